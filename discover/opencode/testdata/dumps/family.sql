-- opencode scenario family (event emptied)
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE `account` (
          `id` text PRIMARY KEY,
          `email` text NOT NULL,
          `url` text NOT NULL,
          `access_token` text NOT NULL,
          `refresh_token` text NOT NULL,
          `token_expiry` integer,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL
        );
CREATE TABLE `account_state` (
          `id` integer PRIMARY KEY,
          `active_account_id` text,
          `active_org_id` text,
          CONSTRAINT `fk_account_state_active_account_id_account_id_fk` FOREIGN KEY (`active_account_id`) REFERENCES `account`(`id`) ON DELETE SET NULL
        );
CREATE TABLE `control_account` (
          `email` text NOT NULL,
          `url` text NOT NULL,
          `access_token` text NOT NULL,
          `refresh_token` text NOT NULL,
          `token_expiry` integer,
          `active` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `control_account_pk` PRIMARY KEY(`email`, `url`)
        );
CREATE TABLE `credential` (
          `id` text PRIMARY KEY,
          `integration_id` text,
          `label` text NOT NULL,
          `value` text NOT NULL,
          `connector_id` text,
          `method_id` text,
          `active` integer,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL
        );
CREATE TABLE `data_migration` (
          `name` text PRIMARY KEY,
          `time_completed` integer NOT NULL
        );
CREATE TABLE `event` (
          `id` text PRIMARY KEY,
          `aggregate_id` text NOT NULL,
          `seq` integer NOT NULL,
          `type` text NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_event_aggregate_id_event_sequence_aggregate_id_fk` FOREIGN KEY (`aggregate_id`) REFERENCES `event_sequence`(`aggregate_id`) ON DELETE CASCADE
        );
CREATE TABLE `event_sequence` (
          `aggregate_id` text PRIMARY KEY,
          `seq` integer NOT NULL,
          `owner_id` text
        );
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO "message" VALUES('msg_1fffee567001n3Es9R0F5LT3mc','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296257383,1795296262238,'{"role":"user","time":{"created":1795296257383},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1fffef0fc001mNfbJMBMDpdUsO','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296260348,1795296266153,'{"parentID":"msg_1fffee567001n3Es9R0F5LT3mc","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296260348,"completed":1795296266152},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff1c28001tpvcr3uqi4xjSD','ses_e0000e410ffe8UVAmhaap2NBgh',1795296271400,1795296282934,'{"role":"user","time":{"created":1795296271400},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff234d001VynYe67W0ipOia','ses_e0000e410ffe8UVAmhaap2NBgh',1795296273229,1795296281001,'{"parentID":"msg_1ffff1c28001tpvcr3uqi4xjSD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296273229,"completed":1795296280999},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1ffff3656001yHbsOZJJRpP20h','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296278114,1795296281160,'{"role":"user","time":{"created":1795296278114},"agent":"general","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff3714001YxQYdJvWX3tBia','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296278292,1795296280009,'{"parentID":"msg_1ffff3656001yHbsOZJJRpP20h","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296278292,"completed":1795296280008},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1ffff3dcd001bWByMy14sikT1b','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296280013,1795296280715,'{"parentID":"msg_1ffff3656001yHbsOZJJRpP20h","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296280013,"completed":1795296280713},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff41ab001GY6aQAmf8xcUgC','ses_e0000e410ffe8UVAmhaap2NBgh',1795296281003,1795296282319,'{"parentID":"msg_1ffff1c28001tpvcr3uqi4xjSD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296281003,"completed":1795296282318},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff47c6001cFYqpBro5ifKY5','ses_e0000b898ffeazalBHsMekyOeh',1795296282566,1795296284647,'{"role":"user","time":{"created":1795296282566},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff48a3001fjhHR012CxeM6p','ses_e0000b898ffeazalBHsMekyOeh',1795296282787,1795296284416,'{"parentID":"msg_1ffff47c6001cFYqpBro5ifKY5","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296282787,"completed":1795296284414},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff4f1f001G6UcnxdWYZLQYY','ses_e0000b898ffeazalBHsMekyOeh',1795296284447,1795296286532,'{"role":"user","time":{"created":1795296284447},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff4f97001vIJCcMgOslnwGh','ses_e0000b898ffeazalBHsMekyOeh',1795296284567,1795296285842,'{"parentID":"msg_1ffff4f1f001G6UcnxdWYZLQYY","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296284567,"completed":1795296285841},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1ffff5498001zEavTsjPdqg8Jt','ses_e0000b898ffeazalBHsMekyOeh',1795296285848,1795296286189,'{"parentID":"msg_1ffff4f1f001G6UcnxdWYZLQYY","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296285848,"completed":1795296286188},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff56640017aqA5rDmR9HARS','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296282566,1795296286317,'{"role":"user","time":{"created":1795296282566},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff5697001qjclij1sXQO9oJ','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296282787,1795296286360,'{"parentID":"msg_1ffff56640017aqA5rDmR9HARS","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296282787,"completed":1795296284414},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff56de001T85E44E0PdM9gX','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296284447,1795296286431,'{"role":"user","time":{"created":1795296284447},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff56ec001TXjm2nKHPhE5fY','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296284567,1795296286444,'{"parentID":"msg_1ffff56de001T85E44E0PdM9gX","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296284567,"completed":1795296285841},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1ffff5707001zTt0X0YKezBPGO','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296285848,1795296286471,'{"parentID":"msg_1ffff56de001T85E44E0PdM9gX","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296285848,"completed":1795296286188},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff5764001xAdggzONQoghij','ses_e0000b898ffeazalBHsMekyOeh',1795296286564,1795296286564,'{"time":{"created":1795296286564},"role":"user","agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"}}');
INSERT INTO "message" VALUES('msg_1ffff57660017jUQxNo8LbHhmV','ses_e0000b898ffeazalBHsMekyOeh',1795296286566,1795296286681,'{"parentID":"msg_1ffff5764001xAdggzONQoghij","mode":"build","agent":"build","cost":0,"path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"time":{"created":1795296286566,"completed":1795296286680},"role":"assistant","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"claude-sonnet-4-5","providerID":"anthropic"}');
INSERT INTO "message" VALUES('msg_1ffff583e001pV0o5xbJ01YfpR','ses_e0000b898ffeazalBHsMekyOeh',1795296286782,1795296287482,'{"role":"user","time":{"created":1795296286782},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff589d001LKDpbkpO2w7iQv','ses_e0000b898ffeazalBHsMekyOeh',1795296286877,1795296287237,'{"parentID":"msg_1ffff583e001pV0o5xbJ01YfpR","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296286877,"completed":1795296287236},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff5a44001uvt3VnUiEnPxG8','ses_e0000b898ffeazalBHsMekyOeh',1795296287300,1795296288007,'{"role":"user","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"agent":"build","time":{"created":1795296287300},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff5aca001cZ89t0RnR5sg7x','ses_e0000b898ffeazalBHsMekyOeh',1795296287434,1795296287774,'{"role":"assistant","parentID":"msg_1ffff5a44001uvt3VnUiEnPxG8","mode":"compaction","agent":"compaction","summary":true,"path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296287434,"completed":1795296287774},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff5c37001pYPkS8dUIowBuL','ses_e0000b898ffeazalBHsMekyOeh',1795296287799,1795296288363,'{"role":"user","time":{"created":1795296287799},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff5cc0001xJDyAlnYJuAvXA','ses_e0000b898ffeazalBHsMekyOeh',1795296287936,1795296288253,'{"parentID":"msg_1ffff5c37001pYPkS8dUIowBuL","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296287936,"completed":1795296288252},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff5e1c001CeqZ9qGrWyZmpI','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288284,1795296289689,'{"role":"user","time":{"created":1795296288284},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff5e5c001HEOTOun9vy4OVz','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288348,1795296289134,'{"parentID":"msg_1ffff5e1c001CeqZ9qGrWyZmpI","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296288348,"completed":1795296289133},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_1ffff6a61001fa9opKa0lilEI0','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296291425,1795296292359,'{"role":"user","time":{"created":1795296291425},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_1ffff6b5b001aoteF6ANBst7Ka','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296291675,1795296292241,'{"parentID":"msg_1ffff6a61001fa9opKa0lilEI0","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795296291675,"completed":1795296292241},"finish":"stop"}');
CREATE TABLE "migration" (id TEXT PRIMARY KEY, time_completed INTEGER NOT NULL);
INSERT INTO "migration" VALUES('20260127222353_familiar_lady_ursula',1795296252005);
INSERT INTO "migration" VALUES('20260211171708_add_project_commands',1795296252006);
INSERT INTO "migration" VALUES('20260213144116_wakeful_the_professor',1795296252006);
INSERT INTO "migration" VALUES('20260225215848_workspace',1795296252006);
INSERT INTO "migration" VALUES('20260227213759_add_session_workspace_id',1795296252006);
INSERT INTO "migration" VALUES('20260228203230_blue_harpoon',1795296252006);
INSERT INTO "migration" VALUES('20260303231226_add_workspace_fields',1795296252006);
INSERT INTO "migration" VALUES('20260309230000_move_org_to_state',1795296252006);
INSERT INTO "migration" VALUES('20260312043431_session_message_cursor',1795296252006);
INSERT INTO "migration" VALUES('20260323234822_events',1795296252006);
INSERT INTO "migration" VALUES('20260410174513_workspace-name',1795296252006);
INSERT INTO "migration" VALUES('20260413175956_chief_energizer',1795296252006);
INSERT INTO "migration" VALUES('20260423070820_add_icon_url_override',1795296252006);
INSERT INTO "migration" VALUES('20260427172553_slow_nightmare',1795296252006);
INSERT INTO "migration" VALUES('20260428004200_add_session_path',1795296252006);
INSERT INTO "migration" VALUES('20260501142318_next_venus',1795296252006);
INSERT INTO "migration" VALUES('20260504145000_add_sync_owner',1795296252006);
INSERT INTO "migration" VALUES('20260507164347_add_workspace_time',1795296252006);
INSERT INTO "migration" VALUES('20260510033149_session_usage',1795296252006);
INSERT INTO "migration" VALUES('20260511000411_data_migration_state',1795296252007);
INSERT INTO "migration" VALUES('20260511173437_session-metadata',1795296252007);
INSERT INTO "migration" VALUES('20260601010001_normalize_storage_paths',1795296252007);
INSERT INTO "migration" VALUES('20260601202201_amazing_prowler',1795296252016);
INSERT INTO "migration" VALUES('20260602002951_lowly_union_jack',1795296252016);
INSERT INTO "migration" VALUES('20260602182828_add_project_directories',1795296252016);
INSERT INTO "migration" VALUES('20260603001617_session_message_projection_indexes',1795296252016);
INSERT INTO "migration" VALUES('20260603040000_session_message_projection_order',1795296252016);
INSERT INTO "migration" VALUES('20260603141458_session_input_inbox',1795296252016);
INSERT INTO "migration" VALUES('20260603160727_jittery_ezekiel_stane',1795296252016);
INSERT INTO "migration" VALUES('20260604172448_event_sourced_session_input',1795296252016);
INSERT INTO "migration" VALUES('20260605003541_add_session_context_snapshot',1795296252016);
INSERT INTO "migration" VALUES('20260605042240_add_context_epoch_agent',1795296252016);
INSERT INTO "migration" VALUES('20260611035744_credential',1795296252016);
INSERT INTO "migration" VALUES('20260611192811_lush_chimera',1795296252016);
INSERT INTO "migration" VALUES('20260612174303_project_dir_strategy',1795296252017);
INSERT INTO "migration" VALUES('20260622142730_simplify_session_context_epoch',1795296252017);
INSERT INTO "migration" VALUES('20260622170816_reset_v2_session_state',1795296252017);
INSERT INTO "migration" VALUES('20260622202450_simplify_session_input',1795296252017);
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO "part" VALUES('prt_1fffee5a9001rEqfeqzX8SD82o','msg_1fffee567001n3Es9R0F5LT3mc','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296257457,1795296257458,'{"type":"text","text":"a first start"}');
INSERT INTO "part" VALUES('prt_1ffff066e0018CRCMu2nLPlFXD','msg_1fffef0fc001mNfbJMBMDpdUsO','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296265839,1795296265841,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff0672001xk5QWWdhk5HNQq','msg_1fffef0fc001mNfbJMBMDpdUsO','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296265842,1795296265851,'{"type":"text","text":"OK: a first start","time":{"start":1795296265842,"end":1795296265847}}');
INSERT INTO "part" VALUES('prt_1ffff070e001PAep6tvgnvSz6t','msg_1fffef0fc001mNfbJMBMDpdUsO','ses_e00011cb1ffe1cYGmjra8CLZP5',1795296265998,1795296265999,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff1c2c001za7hNhI29KdTdj','msg_1ffff1c28001tpvcr3uqi4xjSD','ses_e0000e410ffe8UVAmhaap2NBgh',1795296271406,1795296271408,'{"type":"text","text":"[[agent [[shell echo sub]];; text main]]"}');
INSERT INTO "part" VALUES('prt_1ffff34ca001BS0reW1Q4uPZIi','msg_1ffff234d001VynYe67W0ipOia','ses_e0000e410ffe8UVAmhaap2NBgh',1795296277707,1795296277733,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff34e70015VlQsAepEMQQPC','msg_1ffff234d001VynYe67W0ipOia','ses_e0000e410ffe8UVAmhaap2NBgh',1795296277748,1795296277806,'{"type":"text","text":"I use a tool.","time":{"start":1795296277748,"end":1795296277785}}');
INSERT INTO "part" VALUES('prt_1ffff354b001fn224JayWhCOD1','msg_1ffff234d001VynYe67W0ipOia','ses_e0000e410ffe8UVAmhaap2NBgh',1795296277859,1795296280773,'{"type":"tool","tool":"task","callID":"toolu_2RH55ZR43DLE5BDCHZ3PADS65H","state":{"status":"completed","input":{"description":"a subtask","prompt":"[[shell echo sub]]","subagent_type":"general"},"output":"<task id=\"ses_e0000c9f7ffeLls58oOl0Elxzy\" state=\"completed\">\n<task_result>\ndone: sub\n</task_result>\n</task>","metadata":{"parentSessionId":"ses_e0000e410ffe8UVAmhaap2NBgh","sessionId":"ses_e0000c9f7ffeLls58oOl0Elxzy","model":{"modelID":"claude-sonnet-4-5","providerID":"anthropic"},"truncated":false},"title":"a subtask","time":{"start":1795296278066,"end":1795296280772}}}');
INSERT INTO "part" VALUES('prt_1ffff3674001GRIJ4phtpagkln','msg_1ffff3656001yHbsOZJJRpP20h','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296278144,1795296278145,'{"type":"text","text":"[[shell echo sub]]"}');
INSERT INTO "part" VALUES('prt_1ffff39de001Wt53lRD9pKp92k','msg_1ffff3714001YxQYdJvWX3tBia','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296279006,1795296279065,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff3a21001WZxr5p3P7a9jwe','msg_1ffff3714001YxQYdJvWX3tBia','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296279073,1795296279098,'{"type":"text","text":"I use a tool.","time":{"start":1795296279073,"end":1795296279097}}');
INSERT INTO "part" VALUES('prt_1ffff3a3b001nk1XTxFRDhYTpA','msg_1ffff3714001YxQYdJvWX3tBia','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296279099,1795296279671,'{"type":"tool","tool":"bash","callID":"toolu_IIOJJO6UP6D4FE45M4PJDM4DEM","state":{"status":"completed","input":{"command":"echo sub","description":"a command","timeout":3600000},"output":"sub\n","metadata":{"output":"sub\n","exit":0,"truncated":false},"title":"echo sub","time":{"start":1795296279132,"end":1795296279658}}}');
INSERT INTO "part" VALUES('prt_1ffff3d9d001TFdrvi0S6fA8Ws','msg_1ffff3714001YxQYdJvWX3tBia','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296279965,1795296279967,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff3e50001NJv9ScgOsHe0l0','msg_1ffff3dcd001bWByMy14sikT1b','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296280144,1795296280145,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff3e52001t2fhAkOhRDUCOA','msg_1ffff3dcd001bWByMy14sikT1b','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296280146,1795296280170,'{"type":"text","text":"done: sub","time":{"start":1795296280146,"end":1795296280169}}');
INSERT INTO "part" VALUES('prt_1ffff3f6b001pqdMvNw78YRk0k','msg_1ffff3dcd001bWByMy14sikT1b','ses_e0000c9f7ffeLls58oOl0Elxzy',1795296280427,1795296280429,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff417c0012hVxb1OKZDtzW0','msg_1ffff234d001VynYe67W0ipOia','ses_e0000e410ffe8UVAmhaap2NBgh',1795296280956,1795296280957,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff4381001N1M10jxOhFrqdk','msg_1ffff41ab001GY6aQAmf8xcUgC','ses_e0000e410ffe8UVAmhaap2NBgh',1795296281474,1795296281476,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff4390001dgkizhCzY6e7bF','msg_1ffff41ab001GY6aQAmf8xcUgC','ses_e0000e410ffe8UVAmhaap2NBgh',1795296281488,1795296281524,'{"type":"text","text":"main","time":{"start":1795296281488,"end":1795296281522}}');
INSERT INTO "part" VALUES('prt_1ffff451b001EI1B0ijL20XneZ','msg_1ffff41ab001GY6aQAmf8xcUgC','ses_e0000e410ffe8UVAmhaap2NBgh',1795296281885,1795296281895,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff47dc0016oBkOGwhQT24BO','msg_1ffff47c6001cFYqpBro5ifKY5','ses_e0000b898ffeazalBHsMekyOeh',1795296282606,1795296282620,'{"type":"text","text":"base one"}');
INSERT INTO "part" VALUES('prt_1ffff4c29001ag9j49Ys26auhZ','msg_1ffff48a3001fjhHR012CxeM6p','ses_e0000b898ffeazalBHsMekyOeh',1795296283689,1795296283691,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff4c40001RIjUKq7FKJYFNZ','msg_1ffff48a3001fjhHR012CxeM6p','ses_e0000b898ffeazalBHsMekyOeh',1795296283712,1795296283715,'{"type":"text","text":"OK: base one","time":{"start":1795296283712,"end":1795296283715}}');
INSERT INTO "part" VALUES('prt_1ffff4df40013AW3r3PXQtTg6b','msg_1ffff48a3001fjhHR012CxeM6p','ses_e0000b898ffeazalBHsMekyOeh',1795296284149,1795296284159,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff4f230011Q00Cm1Z5cNuZl','msg_1ffff4f1f001G6UcnxdWYZLQYY','ses_e0000b898ffeazalBHsMekyOeh',1795296284462,1795296284472,'{"type":"text","text":"[[shell echo two]]"}');
INSERT INTO "part" VALUES('prt_1ffff51ab001iBPLfBaSrCto5m','msg_1ffff4f97001vIJCcMgOslnwGh','ses_e0000b898ffeazalBHsMekyOeh',1795296285114,1795296285115,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff51c2001OlSBlyR3yj9T9b','msg_1ffff4f97001vIJCcMgOslnwGh','ses_e0000b898ffeazalBHsMekyOeh',1795296285122,1795296285133,'{"type":"text","text":"I use a tool.","time":{"start":1795296285122,"end":1795296285132}}');
INSERT INTO "part" VALUES('prt_1ffff51d6001xRlgunwgIVlFcD','msg_1ffff4f97001vIJCcMgOslnwGh','ses_e0000b898ffeazalBHsMekyOeh',1795296285142,1795296285305,'{"type":"tool","tool":"bash","callID":"toolu_U4BL2SZB5QMKHTJRPB2TOWP33Y","state":{"status":"completed","input":{"command":"echo two","description":"a command","timeout":3600000},"output":"two\n","metadata":{"output":"two\n","exit":0,"truncated":false},"title":"echo two","time":{"start":1795296285189,"end":1795296285304}}}');
INSERT INTO "part" VALUES('prt_1ffff53a4001pl2OIx4wXSGQXw','msg_1ffff4f97001vIJCcMgOslnwGh','ses_e0000b898ffeazalBHsMekyOeh',1795296285604,1795296285605,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff55380014d8hqgUjdR7kNt','msg_1ffff5498001zEavTsjPdqg8Jt','ses_e0000b898ffeazalBHsMekyOeh',1795296286008,1795296286009,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff553a001LNwZmL2fXjYj75','msg_1ffff5498001zEavTsjPdqg8Jt','ses_e0000b898ffeazalBHsMekyOeh',1795296286010,1795296286012,'{"type":"text","text":"done: two","time":{"start":1795296286010,"end":1795296286011}}');
INSERT INTO "part" VALUES('prt_1ffff559c001TxqeQK1Q38HOav','msg_1ffff5498001zEavTsjPdqg8Jt','ses_e0000b898ffeazalBHsMekyOeh',1795296286108,1795296286109,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff566e001ERZc4MOUfmLgyb','msg_1ffff56640017aqA5rDmR9HARS','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286318,1795296286319,'{"type":"text","text":"base one"}');
INSERT INTO "part" VALUES('prt_1ffff56980013fKef9eypwnBYR','msg_1ffff5697001qjclij1sXQO9oJ','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286361,1795296286361,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff56a50017O0Fx1tK1t6N4T','msg_1ffff5697001qjclij1sXQO9oJ','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286373,1795296286374,'{"type":"text","text":"OK: base one","time":{"start":1795296283712,"end":1795296283715}}');
INSERT INTO "part" VALUES('prt_1ffff56a7001Xhbhk2nYdpAqy1','msg_1ffff5697001qjclij1sXQO9oJ','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286375,1795296286379,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff56ea001vKywK1QndqdCAY','msg_1ffff56de001T85E44E0PdM9gX','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286442,1795296286443,'{"type":"text","text":"[[shell echo two]]"}');
INSERT INTO "part" VALUES('prt_1ffff56ed0017g6z1yvxyADnFC','msg_1ffff56ec001TXjm2nKHPhE5fY','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286445,1795296286445,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff56ed002BfBTmDA3apmsgQ','msg_1ffff56ec001TXjm2nKHPhE5fY','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286446,1795296286446,'{"type":"text","text":"I use a tool.","time":{"start":1795296285122,"end":1795296285132}}');
INSERT INTO "part" VALUES('prt_1ffff56ee001fgBx2figGmv3PH','msg_1ffff56ec001TXjm2nKHPhE5fY','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286446,1795296286447,'{"type":"tool","tool":"bash","callID":"toolu_U4BL2SZB5QMKHTJRPB2TOWP33Y","state":{"status":"completed","input":{"command":"echo two","description":"a command","timeout":3600000},"output":"two\n","metadata":{"output":"two\n","exit":0,"truncated":false},"title":"echo two","time":{"start":1795296285189,"end":1795296285304}}}');
INSERT INTO "part" VALUES('prt_1ffff56f9001jcWAt4D0m98Ikn','msg_1ffff56ec001TXjm2nKHPhE5fY','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286457,1795296286458,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff5708001Yi4McRTbf2O3tK','msg_1ffff5707001zTt0X0YKezBPGO','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286472,1795296286472,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff5710001ijqe4IlE0WewFf','msg_1ffff5707001zTt0X0YKezBPGO','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286481,1795296286482,'{"type":"text","text":"done: two","time":{"start":1795296286010,"end":1795296286011}}');
INSERT INTO "part" VALUES('prt_1ffff5723001iKFfm3uttyD2l7','msg_1ffff5707001zTt0X0YKezBPGO','ses_e0000a9a0ffe2wDYJof2xuHKKj',1795296286500,1795296286501,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff5765001ZKlkg53eISSElj','msg_1ffff5764001xAdggzONQoghij','ses_e0000b898ffeazalBHsMekyOeh',1795296286565,1795296286566,'{"type":"text","text":"The following tool was executed by the user","synthetic":true}');
INSERT INTO "part" VALUES('prt_1ffff5767001qjfIIDoDD6echR','msg_1ffff57660017jUQxNo8LbHhmV','ses_e0000b898ffeazalBHsMekyOeh',1795296286584,1795296286683,'{"type":"tool","tool":"bash","callID":"01M7ZZYNV7CHTW8YKP88WA546P","state":{"status":"completed","time":{"start":1795296286567,"end":1795296286680},"input":{"command":"echo typed by me"},"title":"","metadata":{"output":"typed by me\n"},"output":"typed by me\n"}}');
INSERT INTO "part" VALUES('prt_1ffff583e002PTdxzY1tIlDBun','msg_1ffff583e001pV0o5xbJ01YfpR','ses_e0000b898ffeazalBHsMekyOeh',1795296286796,1795296286796,'{"type":"text","text":"Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file that helps future OpenCode sessions avoid mistakes and ramp up quickly. Every line should answer: \"Would an agent likely miss this without help?\" If not, leave it out.\n\nUser-provided focus or constraints (honor these):\nsome args\n\n## How to investigate\n\nRead the highest-value sources first:\n- `README*`, root manifests, workspace config, lockfiles\n- build, test, lint, formatter, typecheck, and codegen config\n- CI workflows and pre-commit / task runner config\n- existing instruction files (`AGENTS.md`, `CLAUDE.md`, `.cursor/rules/`, `.cursorrules`, `.github/copilot-instructions.md`)\n- repo-local OpenCode config such as `opencode.json`\n\nIf architecture is still unclear after reading config and docs, inspect a small number of representative code files to find the real entrypoints, package boundaries, and execution flow. Prefer reading the files that explain how the system is wired together over random leaf files.\n\nPrefer executable sources of truth over prose. If docs conflict with config or scripts, trust the executable source and only keep what you can verify.\n\n## What to extract\n\nLook for the highest-signal facts for an agent working in this repo:\n- exact developer commands, especially non-obvious ones\n- how to run a single test, a single package, or a focused verification step\n- required command order when it matters, such as `lint -> typecheck -> test`\n- monorepo or multi-package boundaries, ownership of major directories, and the real app/library entrypoints\n- framework or toolchain quirks: generated code, migrations, codegen, build artifacts, special env loading, dev servers, infra deploy flow\n- repo-specific style or workflow conventions that differ from defaults\n- testing quirks: fixtures, integration test prerequisites, snapshot workflows, required services, flaky or expensive suites\n- important constraints from existing instruction files worth preserving\n\nGood `AGENTS.md` content is usually hard-earned context that took reading multiple files to infer.\n\n## Questions\n\nOnly ask the user questions if the repo cannot answer something important. Use the `question` tool for one short batch at most.\n\nGood questions:\n- undocumented team conventions\n- branch / PR / release expectations\n- missing setup or test prerequisites that are known but not written down\n\nDo not ask about anything the repo already makes clear.\n\n## Writing rules\n\nInclude only high-signal, repo-specific guidance such as:\n- exact commands and shortcuts the agent would otherwise guess wrong\n- architecture notes that are not obvious from filenames\n- conventions that differ from language or framework defaults\n- setup requirements, environment quirks, and operational gotchas\n- references to existing instruction sources that matter\n\nExclude:\n- generic software advice\n- long tutorials or exhaustive file trees\n- obvious language conventions\n- speculative claims or anything you could not verify\n- content better stored in another file referenced via `opencode.json` `instructions`\n\nWhen in doubt, omit.\n\nPrefer short sections and bullets. If the repo is simple, keep the file simple. If the repo is large, summarize the few structural facts that actually change how an agent should work.\n\nIf `AGENTS.md` already exists at `/srv/opencode-lab/proj/git1`, improve it in place rather than rewriting blindly. Preserve verified useful guidance, delete fluff or stale claims, and reconcile it with the current codebase."}');
INSERT INTO "part" VALUES('prt_1ffff5968001O0NI0JX6jf40vM','msg_1ffff589d001LKDpbkpO2w7iQv','ses_e0000b898ffeazalBHsMekyOeh',1795296287080,1795296287088,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff59710012aqfEi9VeenMcx','msg_1ffff589d001LKDpbkpO2w7iQv','ses_e0000b898ffeazalBHsMekyOeh',1795296287090,1795296287113,'{"type":"text","text":"OK: Create or update `AGENTS.md` for this repository.","time":{"start":1795296287089,"end":1795296287112}}');
INSERT INTO "part" VALUES('prt_1ffff59c8001NOIeJ8Z7UhdY2F','msg_1ffff589d001LKDpbkpO2w7iQv','ses_e0000b898ffeazalBHsMekyOeh',1795296287176,1795296287177,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff5a47001mcn1SuQxrpb53c','msg_1ffff5a44001uvt3VnUiEnPxG8','ses_e0000b898ffeazalBHsMekyOeh',1795296287314,1795296287315,'{"type":"compaction","auto":false}');
INSERT INTO "part" VALUES('prt_1ffff5b95001yLDTNvpQtH55qR','msg_1ffff5aca001cZ89t0RnR5sg7x','ses_e0000b898ffeazalBHsMekyOeh',1795296287637,1795296287638,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff5ba1001zuk2wvXDJJvYRU','msg_1ffff5aca001cZ89t0RnR5sg7x','ses_e0000b898ffeazalBHsMekyOeh',1795296287662,1795296287685,'{"type":"text","text":"OK","time":{"start":1795296287649,"end":1795296287673}}');
INSERT INTO "part" VALUES('prt_1ffff5c0100101gPvdsq5QhUQg','msg_1ffff5aca001cZ89t0RnR5sg7x','ses_e0000b898ffeazalBHsMekyOeh',1795296287745,1795296287746,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff5c380013XQwNC3SynAUwe','msg_1ffff5c37001pYPkS8dUIowBuL','ses_e0000b898ffeazalBHsMekyOeh',1795296287812,1795296287813,'{"type":"text","text":"after the summary"}');
INSERT INTO "part" VALUES('prt_1ffff5d7a001AiRNKaanH4ibjs','msg_1ffff5cc0001xJDyAlnYJuAvXA','ses_e0000b898ffeazalBHsMekyOeh',1795296288122,1795296288123,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff5d7c001qCKgAV9Ai0AzJD','msg_1ffff5cc0001xJDyAlnYJuAvXA','ses_e0000b898ffeazalBHsMekyOeh',1795296288124,1795296288141,'{"type":"text","text":"OK: after the summary","time":{"start":1795296288124,"end":1795296288125}}');
INSERT INTO "part" VALUES('prt_1ffff5db7001WSnoU3WN5NDtAZ','msg_1ffff5cc0001xJDyAlnYJuAvXA','ses_e0000b898ffeazalBHsMekyOeh',1795296288184,1795296288185,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff5e1e001IoAHi87NbsGCsa','msg_1ffff5e1c001CeqZ9qGrWyZmpI','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288287,1795296288290,'{"type":"text","text":"to be reverted"}');
INSERT INTO "part" VALUES('prt_1ffff5fa70015c1tKemGgbs08R','msg_1ffff5e5c001HEOTOun9vy4OVz','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288679,1795296288693,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff5fbe001ikyY0f6uk5nyVM','msg_1ffff5e5c001HEOTOun9vy4OVz','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288703,1795296288721,'{"type":"text","text":"OK: to be reverted","time":{"start":1795296288702,"end":1795296288716}}');
INSERT INTO "part" VALUES('prt_1ffff607500191twy4VHKkApjf','msg_1ffff5e5c001HEOTOun9vy4OVz','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296288885,1795296288886,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_1ffff6a8e001atdlCAudAZEGRS','msg_1ffff6a61001fa9opKa0lilEI0','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296291481,1795296291481,'{"type":"text","text":"third"}');
INSERT INTO "part" VALUES('prt_1ffff6cb6001Sum4rzKH9gfdIa','msg_1ffff6b5b001aoteF6ANBst7Ka','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296292022,1795296292023,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1ffff6cbe001YFEWhmyCeRsIwP','msg_1ffff6b5b001aoteF6ANBst7Ka','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296292031,1795296292049,'{"type":"text","text":"OK: third","time":{"start":1795296292030,"end":1795296292048}}');
INSERT INTO "part" VALUES('prt_1ffff6d37001Dj8YYeigawadJ9','msg_1ffff6b5b001aoteF6ANBst7Ka','ses_e0000a1edffe4XVsfOb3Ex5ydU',1795296292151,1795296292156,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
CREATE TABLE `permission` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `action` text NOT NULL,
          `resource` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `fk_permission_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
INSERT INTO "project" VALUES('d2f27231a8840b88d5a530db98597f9c255eb008','/srv/opencode-lab/proj/git1','git',NULL,NULL,NULL,NULL,1795296254214,1795296312361,1795296287241,'[]',NULL);
CREATE TABLE `project_directory` (
          `project_id` text NOT NULL,
          `directory` text NOT NULL,
          `type` text,
          `strategy` text,
          `time_created` integer NOT NULL,
          CONSTRAINT `project_directory_pk` PRIMARY KEY(`project_id`, `directory`),
          CONSTRAINT `fk_project_directory_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO "project_directory" VALUES('d2f27231a8840b88d5a530db98597f9c255eb008','/srv/opencode-lab/proj/git1',NULL,NULL,1795296254236);
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO "session" VALUES('ses_e00011cb1ffe1cYGmjra8CLZP5','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,NULL,'stellar-garden','/srv/opencode-lab/proj/git1','','{"title": "A title"}','1.18.33',NULL,0,0,0,NULL,NULL,0.00377955,1000,50,0,11,7,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795296256847,1795296266236,NULL,NULL);
INSERT INTO "session" VALUES('ses_e0000e410ffe8UVAmhaap2NBgh','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,NULL,'nimble-garden','/srv/opencode-lab/proj/git1','','[[agent [[shell echo','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795296271343,1795296282360,NULL,NULL);
INSERT INTO "session" VALUES('ses_e0000c9f7ffeLls58oOl0Elxzy','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,'ses_e0000e410ffe8UVAmhaap2NBgh','stellar-harbor','/srv/opencode-lab/proj/git1','','a subtask (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,'[{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795296278024,1795296280792,NULL,NULL);
INSERT INTO "session" VALUES('ses_e0000b898ffeazalBHsMekyOeh','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,NULL,'lucky-circuit','/srv/opencode-lab/proj/git1','','base one','1.18.33',NULL,0,0,0,NULL,NULL,0.0226773,6000,300,0,66,42,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795296282472,1795296288258,NULL,NULL);
INSERT INTO "session" VALUES('ses_e0000a9a0ffe2wDYJof2xuHKKj','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,NULL,'quick-canyon','/srv/opencode-lab/proj/git1','','base one (fork #1)','1.18.33',NULL,NULL,NULL,NULL,NULL,NULL,0.01133865,3000,150,0,33,21,NULL,NULL,NULL,NULL,1795296286303,1795296286303,NULL,NULL);
INSERT INTO "session" VALUES('ses_e0000a1edffe4XVsfOb3Ex5ydU','d2f27231a8840b88d5a530db98597f9c255eb008',NULL,NULL,'calm-island','/srv/opencode-lab/proj/git1','','to be reverted','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795296288274,1795296292247,NULL,NULL);
CREATE TABLE `session_context_epoch` (
          `session_id` text PRIMARY KEY,
          `baseline` text NOT NULL,
          `snapshot` text NOT NULL,
          `baseline_seq` integer NOT NULL,
          CONSTRAINT `fk_session_context_epoch_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session_input` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `prompt` text NOT NULL,
          `delivery` text NOT NULL,
          `admitted_seq` integer NOT NULL,
          `promoted_seq` integer,
          `time_created` integer NOT NULL,
          CONSTRAINT `fk_session_input_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session_message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `type` text NOT NULL,
          `seq` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_session_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `session_share` (
          `session_id` text PRIMARY KEY,
          `id` text NOT NULL,
          `secret` text NOT NULL,
          `url` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `fk_session_share_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `todo` (
          `session_id` text NOT NULL,
          `content` text NOT NULL,
          `status` text NOT NULL,
          `priority` text NOT NULL,
          `position` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `todo_pk` PRIMARY KEY(`session_id`, `position`),
          CONSTRAINT `fk_todo_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `workspace` (
          `id` text PRIMARY KEY,
          `type` text NOT NULL,
          `name` text DEFAULT '' NOT NULL,
          `branch` text,
          `directory` text,
          `extra` text,
          `project_id` text NOT NULL,
          `time_used` integer NOT NULL,
          CONSTRAINT `fk_workspace_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
CREATE UNIQUE INDEX `event_aggregate_seq_idx` ON `event` (`aggregate_id`,`seq`);
CREATE INDEX `event_aggregate_type_seq_idx` ON `event` (`aggregate_id`,`type`,`seq`);
CREATE UNIQUE INDEX `permission_project_action_resource_idx` ON `permission` (`project_id`,`action`,`resource`);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
CREATE INDEX `session_input_session_pending_delivery_seq_idx` ON `session_input` (`session_id`,`promoted_seq`,`delivery`,`admitted_seq`);
CREATE UNIQUE INDEX `session_input_session_admitted_seq_idx` ON `session_input` (`session_id`,`admitted_seq`);
CREATE UNIQUE INDEX `session_input_session_promoted_seq_idx` ON `session_input` (`session_id`,`promoted_seq`);
CREATE UNIQUE INDEX `session_message_session_seq_idx` ON `session_message` (`session_id`,`seq`);
CREATE INDEX `session_message_session_type_seq_idx` ON `session_message` (`session_id`,`type`,`seq`);
CREATE INDEX `session_message_session_time_created_id_idx` ON `session_message` (`session_id`,`time_created`,`id`);
CREATE INDEX `session_message_time_created_idx` ON `session_message` (`time_created`);
CREATE INDEX `session_project_idx` ON `session` (`project_id`);
CREATE INDEX `session_workspace_idx` ON `session` (`workspace_id`);
CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);
CREATE INDEX `todo_session_idx` ON `todo` (`session_id`);
COMMIT;
