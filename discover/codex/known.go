package codex

import (
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// knownKinds are the kinds of records that Codex writes, those of events and of the conversation's items with what they are (READ
// 0.169, and SEEN in older versions). Many say nothing that this package reads.
const knownKinds = " session_meta turn_context world_state compacted token_usage_record dynamic_tools_updated" +
	" inter_agent_communication inter_agent_communication_metadata security_risk_score realtime_item" +
	eventKinds + itemKinds

const eventKinds = " event_msg/error event_msg/warning event_msg/stream_error event_msg/model_reroute event_msg/model_verification" +
	" event_msg/context_compacted event_msg/thread_rolled_back event_msg/task_started event_msg/task_complete event_msg/turn_aborted" +
	" event_msg/thread_settings_applied event_msg/thread_name_updated event_msg/thread_goal_updated event_msg/thread_queue_changed" +
	" event_msg/token_count event_msg/user_message event_msg/agent_message event_msg/agent_reasoning" +
	" event_msg/agent_reasoning_raw_content event_msg/agent_reasoning_section_break event_msg/session_configured" +
	" event_msg/mcp_tool_call_begin event_msg/mcp_tool_call_end event_msg/web_search_begin event_msg/web_search_end" +
	" event_msg/image_generation_begin event_msg/image_generation_end event_msg/exec_command_begin event_msg/exec_command_end" +
	" event_msg/view_image_tool_call event_msg/dynamic_tool_call_request event_msg/dynamic_tool_call_response" +
	" event_msg/patch_apply_begin event_msg/patch_apply_end event_msg/turn_diff event_msg/plan_update event_msg/undo_completed" +
	" event_msg/entered_review_mode event_msg/exited_review_mode event_msg/item_started event_msg/item_completed" +
	" event_msg/hook_started event_msg/hook_completed event_msg/guardian_assessment event_msg/deprecation_notice" +
	" event_msg/collab_agent_spawn_begin event_msg/collab_agent_spawn_end event_msg/collab_agent_interaction_begin" +
	" event_msg/collab_agent_interaction_end event_msg/collab_waiting_begin event_msg/collab_waiting_end" +
	" event_msg/collab_close_begin event_msg/collab_close_end event_msg/collab_resume_begin event_msg/collab_resume_end" +
	" event_msg/sub_agent_activity"

const itemKinds = " response_item/message response_item/agent_message response_item/reasoning response_item/additional_tools" +
	" response_item/function_call response_item/function_call_output response_item/custom_tool_call" +
	" response_item/custom_tool_call_output response_item/local_shell_call response_item/web_search_call" +
	" response_item/tool_search_call response_item/tool_search_output response_item/image_generation_call" +
	" response_item/ghost_snapshot response_item/compaction response_item/compaction_trigger" +
	" response_item/context_compaction response_item/configuration_update response_item/other "

// kindName returns the type of a record; of an event or an item with its own type, as in event_msg/task_started.
func kindName(record jsonl.Object) string {
	kind := native.Kind(record.Get("type"))
	if kind == "event_msg" || kind == "response_item" {
		kind += "/" + native.Kind(record.Get("payload").Object().Get("type"))
	}
	return kind
}
