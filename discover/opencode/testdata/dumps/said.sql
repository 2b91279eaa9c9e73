-- opencode scenario said (event emptied)
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
INSERT INTO "message" VALUES('msg_2000b3d860010RVsU9kwEYqyAG','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297066374,1795297067291,'{"role":"user","time":{"created":1795297066374},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000b403c001uqORr8BRUBTZqd','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297067068,1795297067933,'{"parentID":"msg_2000b3d860010RVsU9kwEYqyAG","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297067068,"completed":1795297067932},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000b4d94001yJO190HrAvAVMG','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297070484,1795297081053,'{"role":"user","time":{"created":1795297070484},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000b53ba001pK7iUO1Ty8nFN6','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297072058,1795297080644,'{"parentID":"msg_2000b4d94001yJO190HrAvAVMG","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297072058,"completed":1795297080644},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_2000b59aa001pSfBxe309QaTGE','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297073579,1795297081530,'{"role":"user","time":{"created":1795297073579},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000b7548001Q8aKrECRTursTA','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297080648,1795297081354,'{"parentID":"msg_2000b59aa001pSfBxe309QaTGE","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297080648,"completed":1795297081353},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000b7d040015TbMfx8iLOogHu','ses_dfff48309ffe6x9WENHDlzjtMh',1795297082628,1795297082713,'{"role":"user","time":{"created":1795297082628},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000b7d1d001uxBEVhaWsOOluy','ses_dfff48309ffe6x9WENHDlzjtMh',1795297082653,1795297086673,'{"parentID":"msg_2000b7d040015TbMfx8iLOogHu","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297082653,"completed":1795297086672},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}');
INSERT INTO "message" VALUES('msg_2000b8ce6001xr6mrFPAmU03Ul','ses_dfff4731effeGjx26SjjKo20s5',1795297086694,1795297086738,'{"role":"user","time":{"created":1795297086694},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000b8cee001iD8mykWekykcAA','ses_dfff4731effeGjx26SjjKo20s5',1795297086702,1795297090741,'{"parentID":"msg_2000b8ce6001xr6mrFPAmU03Ul","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297086702,"completed":1795297090740},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}');
INSERT INTO "message" VALUES('msg_2000ba0a800131Am4KPrJQY1N7','ses_dfff45f5dffews152aVqX750hV',1795297091752,1795297095936,'{"role":"user","time":{"created":1795297091752},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000ba0af001N5qZoIll2y9R5I','ses_dfff45f5dffews152aVqX750hV',1795297091759,1795297095821,'{"parentID":"msg_2000ba0a800131Am4KPrJQY1N7","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297091759,"completed":1795297095820},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_2000bb08f001M3G2ltAYqh5NmC','ses_dfff45f5dffews152aVqX750hV',1795297095823,1795297095916,'{"parentID":"msg_2000ba0a800131Am4KPrJQY1N7","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297095823,"completed":1795297095915},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bb833001Yaeqev9XtA8QI6','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097780,1795297102064,'{"role":"user","time":{"created":1795297097780},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bb845001d7QQh9LtVvIeKc','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097797,1795297102033,'{"parentID":"msg_2000bb833001Yaeqev9XtA8QI6","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297097797,"completed":1795297102032},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_2000bcfde001L7E0W8W3yUiIrD','ses_dfff4303fffe1y74Eu4U40gnFz',1795297103838,1795297103858,'{"role":"user","time":{"created":1795297103838},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"}}');
INSERT INTO "message" VALUES('msg_2000bd027001CxQJlsLaQkkHqF','ses_dfff4303fffe1y74Eu4U40gnFz',1795297103911,1795297104478,'{"role":"assistant","parentID":"msg_2000bcfde001L7E0W8W3yUiIrD","mode":"general","agent":"general","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297103911,"completed":1795297104477},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_2000bd046001Iv1ijZSXi7u2qt','ses_dfff42fc7ffejO5ds6se52Xftl',1795297103943,1795297104721,'{"role":"user","time":{"created":1795297103943},"agent":"general","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bd077001Vt2DfGYxXHobJZ','ses_dfff42fc7ffejO5ds6se52Xftl',1795297103991,1795297104462,'{"parentID":"msg_2000bd046001Iv1ijZSXi7u2qt","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297103991,"completed":1795297104462},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bd261001IQelVTeRhgofsd','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104481,1795297105430,'{"role":"user","time":{"created":1795297104481},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bd26b0013KNaW0skRzPTuo','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104491,1795297104953,'{"parentID":"msg_2000bd261001IQelVTeRhgofsd","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297104491,"completed":1795297104953},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bd465001Pz0r3ISNZjimDh','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104997,1795297105648,'{"role":"user","time":{"created":1795297104997},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bd4d6001lEWxcqoSP5DakX','ses_dfff4303fffe1y74Eu4U40gnFz',1795297105110,1795297105594,'{"parentID":"msg_2000bd465001Pz0r3ISNZjimDh","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297105110,"completed":1795297105593},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105620,1795297106601,'{"role":"user","time":{"created":1795297105620},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bd6fd001xcpEJsvKncXUp1','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105661,1795297106486,'{"parentID":"msg_2000bd6d4001XZcAAqGo8PCZdd","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297105661,"completed":1795297106483},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bda580018IJYuil5itzouH','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106520,1795297107446,'{"role":"user","time":{"created":1795297106520},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bda6a0016zs37lZ3PjxAC9','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106538,1795297107267,'{"parentID":"msg_2000bda580018IJYuil5itzouH","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0.00377955,"tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297106538,"completed":1795297107266},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_2000bdd7c001pMOLSOqJ2Zghtc','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107324,1795297107693,'{"role":"user","time":{"created":1795297107324},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107395,1795297107396,'{"parentID":"msg_2000bdd7c001pMOLSOqJ2Zghtc","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/srv/opencode-lab/proj/git1","root":"/srv/opencode-lab/proj/git1"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{"created":1795297107395}}');
CREATE TABLE "migration" (id TEXT PRIMARY KEY, time_completed INTEGER NOT NULL);
INSERT INTO "migration" VALUES('20260127222353_familiar_lady_ursula',1795297065613);
INSERT INTO "migration" VALUES('20260211171708_add_project_commands',1795297065613);
INSERT INTO "migration" VALUES('20260213144116_wakeful_the_professor',1795297065614);
INSERT INTO "migration" VALUES('20260225215848_workspace',1795297065614);
INSERT INTO "migration" VALUES('20260227213759_add_session_workspace_id',1795297065614);
INSERT INTO "migration" VALUES('20260228203230_blue_harpoon',1795297065614);
INSERT INTO "migration" VALUES('20260303231226_add_workspace_fields',1795297065614);
INSERT INTO "migration" VALUES('20260309230000_move_org_to_state',1795297065614);
INSERT INTO "migration" VALUES('20260312043431_session_message_cursor',1795297065614);
INSERT INTO "migration" VALUES('20260323234822_events',1795297065614);
INSERT INTO "migration" VALUES('20260410174513_workspace-name',1795297065614);
INSERT INTO "migration" VALUES('20260413175956_chief_energizer',1795297065614);
INSERT INTO "migration" VALUES('20260423070820_add_icon_url_override',1795297065614);
INSERT INTO "migration" VALUES('20260427172553_slow_nightmare',1795297065614);
INSERT INTO "migration" VALUES('20260428004200_add_session_path',1795297065614);
INSERT INTO "migration" VALUES('20260501142318_next_venus',1795297065614);
INSERT INTO "migration" VALUES('20260504145000_add_sync_owner',1795297065614);
INSERT INTO "migration" VALUES('20260507164347_add_workspace_time',1795297065614);
INSERT INTO "migration" VALUES('20260510033149_session_usage',1795297065614);
INSERT INTO "migration" VALUES('20260511000411_data_migration_state',1795297065614);
INSERT INTO "migration" VALUES('20260511173437_session-metadata',1795297065615);
INSERT INTO "migration" VALUES('20260601010001_normalize_storage_paths',1795297065615);
INSERT INTO "migration" VALUES('20260601202201_amazing_prowler',1795297065615);
INSERT INTO "migration" VALUES('20260602002951_lowly_union_jack',1795297065615);
INSERT INTO "migration" VALUES('20260602182828_add_project_directories',1795297065615);
INSERT INTO "migration" VALUES('20260603001617_session_message_projection_indexes',1795297065615);
INSERT INTO "migration" VALUES('20260603040000_session_message_projection_order',1795297065615);
INSERT INTO "migration" VALUES('20260603141458_session_input_inbox',1795297065615);
INSERT INTO "migration" VALUES('20260603160727_jittery_ezekiel_stane',1795297065615);
INSERT INTO "migration" VALUES('20260604172448_event_sourced_session_input',1795297065615);
INSERT INTO "migration" VALUES('20260605003541_add_session_context_snapshot',1795297065615);
INSERT INTO "migration" VALUES('20260605042240_add_context_epoch_agent',1795297065615);
INSERT INTO "migration" VALUES('20260611035744_credential',1795297065615);
INSERT INTO "migration" VALUES('20260611192811_lush_chimera',1795297065615);
INSERT INTO "migration" VALUES('20260612174303_project_dir_strategy',1795297065615);
INSERT INTO "migration" VALUES('20260622142730_simplify_session_context_epoch',1795297065615);
INSERT INTO "migration" VALUES('20260622170816_reset_v2_session_state',1795297065615);
INSERT INTO "migration" VALUES('20260622202450_simplify_session_input',1795297065615);
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO "part" VALUES('prt_2000b3d8b001alW1FNfgvOnD9h','msg_2000b3d860010RVsU9kwEYqyAG','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297066381,1795297066382,'{"type":"text","text":"a first start"}');
INSERT INTO "part" VALUES('prt_2000b43450017118cvlO2XeR9C','msg_2000b403c001uqORr8BRUBTZqd','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297067845,1795297067847,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000b4348001Oghom0osNDnuDg','msg_2000b403c001uqORr8BRUBTZqd','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297067848,1795297067851,'{"type":"text","text":"OK: a first start","time":{"start":1795297067848,"end":1795297067850}}');
INSERT INTO "part" VALUES('prt_2000b4371001wES6nOTwHiaro3','msg_2000b403c001uqORr8BRUBTZqd','ses_dfff4c2c7ffe2SJezD8hrX34HZ',1795297067889,1795297067891,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000b4d9e001x2B4gZhoWahq6k','msg_2000b4d94001yJO190HrAvAVMG','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297070500,1795297070501,'{"type":"text","text":"[[shell sleep 6;; text first done]]"}');
INSERT INTO "part" VALUES('prt_2000b59af001CGsskuF7jlqZw3','msg_2000b59aa001pSfBxe309QaTGE','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297073593,1795297073598,'{"type":"text","text":"queued meanwhile"}');
INSERT INTO "part" VALUES('prt_2000b5b9a001twdlucDcH20ih4','msg_2000b53ba001pK7iUO1Ty8nFN6','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297074082,1795297074102,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000b5bc7001ecgy0iLiExpphF','msg_2000b53ba001pK7iUO1Ty8nFN6','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297074120,1795297074152,'{"type":"text","text":"I use a tool.","time":{"start":1795297074119,"end":1795297074148}}');
INSERT INTO "part" VALUES('prt_2000b5bf1001CDqpuXdNxDBHy6','msg_2000b53ba001pK7iUO1Ty8nFN6','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297074162,1795297080547,'{"type":"tool","tool":"bash","callID":"toolu_MTETGQKEFONY7LRH6ZKLWW5I3F","state":{"status":"completed","input":{"command":"sleep 6","description":"a command","timeout":3600000},"output":"(no output)","metadata":{"output":"(no output)","exit":0,"truncated":false},"title":"sleep 6","time":{"start":1795297074354,"end":1795297080543}}}');
INSERT INTO "part" VALUES('prt_2000b752a001ry7X3nHGDWCLr0','msg_2000b53ba001pK7iUO1Ty8nFN6','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297080619,1795297080620,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000b771f001Zm0DlpverkCgJ5','msg_2000b7548001Q8aKrECRTursTA','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297081119,1795297081138,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000b77670015Lfe02icyY92CI','msg_2000b7548001Q8aKrECRTursTA','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297081192,1795297081208,'{"type":"text","text":"OK: queued meanwhile","time":{"start":1795297081191,"end":1795297081194}}');
INSERT INTO "part" VALUES('prt_2000b77af001ahH6y6wLAcgnZQ','msg_2000b7548001Q8aKrECRTursTA','ses_dfff4b376ffetvrWg8ggLO6O3w',1795297081264,1795297081265,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000b7d0a001Hg4ZpKlVaKypRQ','msg_2000b7d040015TbMfx8iLOogHu','ses_dfff48309ffe6x9WENHDlzjtMh',1795297082638,1795297082639,'{"type":"text","text":"[[hang 60s]]"}');
INSERT INTO "part" VALUES('prt_2000b7d76001pmPDqQiso2TYPv','msg_2000b7d1d001uxBEVhaWsOOluy','ses_dfff48309ffe6x9WENHDlzjtMh',1795297082743,1795297082745,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000b7d79001aGp1r56uA3wIOW','msg_2000b7d1d001uxBEVhaWsOOluy','ses_dfff48309ffe6x9WENHDlzjtMh',1795297082746,1795297086672,'{"type":"text","text":"Partial text. ","time":{"start":1795297082746,"end":1795297086670}}');
INSERT INTO "part" VALUES('prt_2000b8ce80017h1dcNMs4IPNXv','msg_2000b8ce6001xr6mrFPAmU03Ul','ses_dfff4731effeGjx26SjjKo20s5',1795297086697,1795297086698,'{"type":"text","text":"[[shell echo partial; sleep 50]]"}');
INSERT INTO "part" VALUES('prt_2000b8d2f001NlGVd1lVOoas9R','msg_2000b8cee001iD8mykWekykcAA','ses_dfff4731effeGjx26SjjKo20s5',1795297086767,1795297086768,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000b8d30001Z2O4un7nYSAaUl','msg_2000b8cee001iD8mykWekykcAA','ses_dfff4731effeGjx26SjjKo20s5',1795297086769,1795297086770,'{"type":"text","text":"I use a tool.","time":{"start":1795297086769,"end":1795297086770}}');
INSERT INTO "part" VALUES('prt_2000b8d33001ArPTiSv9fECe6P','msg_2000b8cee001iD8mykWekykcAA','ses_dfff4731effeGjx26SjjKo20s5',1795297086771,1795297090711,'{"type":"tool","tool":"bash","callID":"toolu_EVTCXDXVKE4DCJJ4L4ZV24CXWM","state":{"status":"completed","input":{"command":"echo partial; sleep 50","description":"a command","timeout":3600000},"output":"partial\n\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>","metadata":{"output":"partial\n","exit":null,"truncated":false},"title":"echo partial; sleep 50","time":{"start":1795297086776,"end":1795297090710}}}');
INSERT INTO "part" VALUES('prt_2000ba0aa001hP6Rxo3rmbY5sk','msg_2000ba0a800131Am4KPrJQY1N7','ses_dfff45f5dffews152aVqX750hV',1795297091755,1795297091756,'{"type":"text","text":"[[shell echo ask me;; text after]]"}');
INSERT INTO "part" VALUES('prt_2000ba0d3001m4B3N6Dw45ikk0','msg_2000ba0af001N5qZoIll2y9R5I','ses_dfff45f5dffews152aVqX750hV',1795297091795,1795297091796,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000ba0d5001ACb2MwHITOU027','msg_2000ba0af001N5qZoIll2y9R5I','ses_dfff45f5dffews152aVqX750hV',1795297091797,1795297091798,'{"type":"text","text":"I use a tool.","time":{"start":1795297091797,"end":1795297091798}}');
INSERT INTO "part" VALUES('prt_2000ba0d7001V2pJM7r0qTWYzp','msg_2000ba0af001N5qZoIll2y9R5I','ses_dfff45f5dffews152aVqX750hV',1795297091801,1795297095768,'{"type":"tool","tool":"bash","callID":"toolu_LHKF3MVWWE4TADFOTMHAJB3WQV","state":{"status":"error","input":{"command":"echo ask me","description":"a command","timeout":3600000},"error":"The user rejected permission to use this specific tool call with the following feedback: do not do that","time":{"start":1795297091805,"end":1795297095767}}}');
INSERT INTO "part" VALUES('prt_2000bb064001yGzmUoMjxsbm6l','msg_2000ba0af001N5qZoIll2y9R5I','ses_dfff45f5dffews152aVqX750hV',1795297095780,1795297095790,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bb0c5001tvZlzhI1kgGVlC','msg_2000bb08f001M3G2ltAYqh5NmC','ses_dfff45f5dffews152aVqX750hV',1795297095877,1795297095878,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bb0c7001iLctp40UPCuHcm','msg_2000bb08f001M3G2ltAYqh5NmC','ses_dfff45f5dffews152aVqX750hV',1795297095879,1795297095881,'{"type":"text","text":"after","time":{"start":1795297095879,"end":1795297095881}}');
INSERT INTO "part" VALUES('prt_2000bb0da001XERLkeOwXEzuf3','msg_2000bb08f001M3G2ltAYqh5NmC','ses_dfff45f5dffews152aVqX750hV',1795297095898,1795297095899,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bb836001IOzP9NI25TzmpV','msg_2000bb833001Yaeqev9XtA8QI6','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097783,1795297097791,'{"type":"text","text":"[[question Which one?;; text after]]"}');
INSERT INTO "part" VALUES('prt_2000bb8a4001EMWm6KzrX6Umkj','msg_2000bb845001d7QQh9LtVvIeKc','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097892,1795297097894,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bb8a6001lTGLSDuXxWijFq','msg_2000bb845001d7QQh9LtVvIeKc','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097894,1795297097896,'{"type":"text","text":"I use a tool.","time":{"start":1795297097894,"end":1795297097896}}');
INSERT INTO "part" VALUES('prt_2000bb8a9001NKxBTxeG6yGgfe','msg_2000bb845001d7QQh9LtVvIeKc','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297097897,1795297101839,'{"type":"tool","tool":"question","callID":"toolu_M54TC7J3KKRTIWRNZXNOWKOPXX","state":{"status":"error","input":{"questions":[{"header":"Choice","options":[{"description":"do it","label":"Yes"},{"description":"leave it","label":"No"}],"question":"Which one?"}]},"error":"The user dismissed this question","time":{"start":1795297097903,"end":1795297101837}}}');
INSERT INTO "part" VALUES('prt_2000bc8aa001TbZQt7AsXaFeiS','msg_2000bb845001d7QQh9LtVvIeKc','ses_dfff447d6ffeVOG8pIjyH0xjUK',1795297101994,1795297101997,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bcfee0016nDkVT205bTVB2','msg_2000bcfde001L7E0W8W3yUiIrD','ses_dfff4303fffe1y74Eu4U40gnFz',1795297103863,1795297103863,'{"type":"subtask","agent":"general","description":"d","command":"sub","model":{"providerID":"anthropic","modelID":"claude-sonnet-4-5"},"prompt":"do this thing in a sub-agent [[text from sub]]"}');
INSERT INTO "part" VALUES('prt_2000bd02f0011ihsd9RbouJuA3','msg_2000bd027001CxQJlsLaQkkHqF','ses_dfff4303fffe1y74Eu4U40gnFz',1795297103919,1795297104479,'{"type":"tool","callID":"01M800QM1FT98HGAWKAD26J696","tool":"task","state":{"status":"completed","input":{"prompt":"do this thing in a sub-agent [[text from sub]]","description":"d","subagent_type":"general","command":"sub"},"title":"d","metadata":{"parentSessionId":"ses_dfff4303fffe1y74Eu4U40gnFz","sessionId":"ses_dfff42fc7ffejO5ds6se52Xftl","model":{"modelID":"claude-sonnet-4-5","providerID":"anthropic"},"truncated":false},"output":"<task id=\"ses_dfff42fc7ffejO5ds6se52Xftl\" state=\"completed\">\n<task_result>\nfrom sub\n</task_result>\n</task>","time":{"start":1795297103919,"end":1795297104478}}}');
INSERT INTO "part" VALUES('prt_2000bd048001hCFUgdMOj6Ba6o','msg_2000bd046001Iv1ijZSXi7u2qt','ses_dfff42fc7ffejO5ds6se52Xftl',1795297103957,1795297103958,'{"type":"text","text":"do this thing in a sub-agent [[text from sub]]"}');
INSERT INTO "part" VALUES('prt_2000bd1c9001IT1wAYx5L2RRx1','msg_2000bd077001Vt2DfGYxXHobJZ','ses_dfff42fc7ffejO5ds6se52Xftl',1795297104329,1795297104332,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bd1cd001wmndxSkEecqAf3','msg_2000bd077001Vt2DfGYxXHobJZ','ses_dfff42fc7ffejO5ds6se52Xftl',1795297104333,1795297104335,'{"type":"text","text":"from sub","time":{"start":1795297104333,"end":1795297104334}}');
INSERT INTO "part" VALUES('prt_2000bd21c001p7IsN6ZMtDZwpL','msg_2000bd077001Vt2DfGYxXHobJZ','ses_dfff42fc7ffejO5ds6se52Xftl',1795297104412,1795297104413,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bd2610027cEnXrQiMKoMNZ','msg_2000bd261001IQelVTeRhgofsd','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104481,1795297104482,'{"type":"text","text":"Summarize the task tool output above and continue with your task.","synthetic":true}');
INSERT INTO "part" VALUES('prt_2000bd31b001s2C5644XLKgdhw','msg_2000bd26b0013KNaW0skRzPTuo','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104668,1795297104669,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bd31d001GjjDaDo22aLeBr','msg_2000bd26b0013KNaW0skRzPTuo','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104669,1795297104671,'{"type":"text","text":"OK: Summarize the task tool output above and continue with your ","time":{"start":1795297104669,"end":1795297104671}}');
INSERT INTO "part" VALUES('prt_2000bd3f8001k5KNytwejjdy4e','msg_2000bd26b0013KNaW0skRzPTuo','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104888,1795297104889,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bd465002ivrg0wMdC6Qcr8','msg_2000bd465001Pz0r3ISNZjimDh','ses_dfff4303fffe1y74Eu4U40gnFz',1795297104998,1795297104999,'{"type":"text","text":"plain command that thing"}');
INSERT INTO "part" VALUES('prt_2000bd663001FFhZlwhx6SSRkV','msg_2000bd4d6001lEWxcqoSP5DakX','ses_dfff4303fffe1y74Eu4U40gnFz',1795297105507,1795297105511,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bd66c001Vb5tB8E7hok9Ck','msg_2000bd4d6001lEWxcqoSP5DakX','ses_dfff4303fffe1y74Eu4U40gnFz',1795297105516,1795297105520,'{"type":"text","text":"OK: plain command that thing","time":{"start":1795297105516,"end":1795297105519}}');
INSERT INTO "part" VALUES('prt_2000bd6950014YIY1z0m52Aewn','msg_2000bd4d6001lEWxcqoSP5DakX','ses_dfff4303fffe1y74Eu4U40gnFz',1795297105557,1795297105558,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bd6e5001gI6XlbmOj760mt','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105638,1795297105639,'{"type":"text","text":"look at @note.txt and ask @general"}');
INSERT INTO "part" VALUES('prt_2000bd6e5002ttVZozKT52W069','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105639,1795297105640,'{"type":"text","synthetic":true,"text":"Called the Read tool with the following input: {\"filePath\":\"/srv/opencode-lab/proj/git1/note.txt\"}"}');
INSERT INTO "part" VALUES('prt_2000bd6e5003r6jbiQUp1pNcY8','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105640,1795297105640,'{"type":"text","synthetic":true,"text":"<path>/srv/opencode-lab/proj/git1/note.txt</path>\n<type>file</type>\n<content>\n1: the note\n\n(End of file - total 1 lines)\n</content>"}');
INSERT INTO "part" VALUES('prt_2000bd6e50040IkX47VgsdYB8N','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105641,1795297105641,'{"type":"file","mime":"text/plain","filename":"note.txt","url":"file:///srv/opencode-lab/proj/git1/note.txt","source":{"text":{"value":"@note.txt","start":8,"end":17},"type":"file","path":"note.txt"}}');
INSERT INTO "part" VALUES('prt_2000bd6e5005PUrVK1y76BoxDZ','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105641,1795297105642,'{"type":"agent","name":"general","source":{"value":"@general","start":26,"end":34}}');
INSERT INTO "part" VALUES('prt_2000bd6e50065W1cE6FFudvES0','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105642,1795297105642,'{"type":"text","synthetic":true,"text":" Use the above message and context to generate a prompt and call the task tool with subagent: general"}');
INSERT INTO "part" VALUES('prt_2000bd6e5007jTtzXFW4ptNfHZ','msg_2000bd6d4001XZcAAqGo8PCZdd','ses_dfff4293dffeFGso45Vn4cwfZP',1795297105644,1795297105644,'{"type":"text","text":"a second text"}');
INSERT INTO "part" VALUES('prt_2000bd8bc001LB1memZXQt1hJ0','msg_2000bd6fd001xcpEJsvKncXUp1','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106108,1795297106109,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bd8bd001ibZu52Q6fkFSpf','msg_2000bd6fd001xcpEJsvKncXUp1','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106120,1795297106124,'{"type":"text","text":"OK: a second text","time":{"start":1795297106109,"end":1795297106124}}');
INSERT INTO "part" VALUES('prt_2000bd989001K9Gp1IHf11ddvf','msg_2000bd6fd001xcpEJsvKncXUp1','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106314,1795297106315,'{"reason":"stop","snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bda58002KYqVri1GMzBPXR','msg_2000bda580018IJYuil5itzouH','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106522,1795297106522,'{"type":"text","text":"[[think some deep thought]]"}');
INSERT INTO "part" VALUES('prt_2000bdbd0001wOTv6pk6U5ywMG','msg_2000bda6a0016zs37lZ3PjxAC9','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106896,1795297106897,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bdbd6001kmD37q3GFWfOal','msg_2000bda6a0016zs37lZ3PjxAC9','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106902,1795297106906,'{"type":"reasoning","text":"some deep thought","time":{"start":1795297106902,"end":1795297106906},"metadata":{"anthropic":{"signature":"c2lnbmF0dXJl"}}}');
INSERT INTO "part" VALUES('prt_2000bdbe200165CrLEIoOChkJN','msg_2000bda6a0016zs37lZ3PjxAC9','ses_dfff4293dffeFGso45Vn4cwfZP',1795297106914,1795297106916,'{"type":"text","text":"I have thought.","time":{"start":1795297106914,"end":1795297106915}}');
INSERT INTO "part" VALUES('prt_2000bdc9e001rbmMpnyL372pO1','msg_2000bda6a0016zs37lZ3PjxAC9','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107102,1795297107108,'{"reason":"stop","snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-finish","tokens":{"total":1068,"input":1000,"output":50,"reasoning":0,"cache":{"write":7,"read":11}},"cost":0.00377955}');
INSERT INTO "part" VALUES('prt_2000bdd7f0010VMenbTg27Jvne','msg_2000bdd7c001pMOLSOqJ2Zghtc','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107328,1795297107329,'{"type":"text","text":"[[fail overloaded_error]]"}');
INSERT INTO "part" VALUES('prt_2000bdf9a001q7V4gT3ppi5189','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107866,1795297107867,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bdfa7001AqlU2fV0DLaY0b','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297107879,1795297107880,'{"type":"text","text":"","time":{"start":1795297107879}}');
INSERT INTO "part" VALUES('prt_2000be7d1001TOFuEJnceAPqse','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297109970,1795297109970,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000be7d3001nxG6nVCS0z18SF','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297109971,1795297109972,'{"type":"text","text":"","time":{"start":1795297109971}}');
INSERT INTO "part" VALUES('prt_2000bfb23001GIrsyENaK3YiuO','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297114915,1795297114923,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000bfb2c0019LPZUy0cU7SA3f','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297114924,1795297114933,'{"type":"text","text":"","time":{"start":1795297114924}}');
INSERT INTO "part" VALUES('prt_2000c1d450013I7cUtBu04P17H','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297123654,1795297123655,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000c1d48001OQHkNFnuMrqvFl','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297123656,1795297123656,'{"type":"text","text":"","time":{"start":1795297123656}}');
INSERT INTO "part" VALUES('prt_2000c6183001e7uYcCtAyf1T5A','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297141125,1795297141126,'{"snapshot":"732180e42dd1fe0c342de81adf04688cacc9f4c4","type":"step-start"}');
INSERT INTO "part" VALUES('prt_2000c6186001niX679ZXAI1rP2','msg_2000bddc30018n2y7U9pYwGV11','ses_dfff4293dffeFGso45Vn4cwfZP',1795297141126,1795297141127,'{"type":"text","text":"","time":{"start":1795297141126}}');
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
INSERT INTO "project" VALUES('c634cd036993f3cf0b305016f4fd61d94ccda3da','/srv/opencode-lab/proj/git1','git',NULL,NULL,NULL,NULL,1795297065898,1795297070099,NULL,'[]',NULL);
CREATE TABLE `project_directory` (
          `project_id` text NOT NULL,
          `directory` text NOT NULL,
          `type` text,
          `strategy` text,
          `time_created` integer NOT NULL,
          CONSTRAINT `project_directory_pk` PRIMARY KEY(`project_id`, `directory`),
          CONSTRAINT `fk_project_directory_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO "project_directory" VALUES('c634cd036993f3cf0b305016f4fd61d94ccda3da','/srv/opencode-lab/proj/git1',NULL,NULL,1795297065904);
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
INSERT INTO "session" VALUES('ses_dfff4c2c7ffe2SJezD8hrX34HZ','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'stellar-rocket','/srv/opencode-lab/proj/git1','','{"title": "A title"}','1.18.33',NULL,0,0,0,NULL,NULL,0.00377955,1000,50,0,11,7,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297066297,1795297067939,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff4b376ffetvrWg8ggLO6O3w','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'neon-squid','/srv/opencode-lab/proj/git1','','queued','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297070217,1795297081426,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff48309ffe6x9WENHDlzjtMh','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'playful-circuit','/srv/opencode-lab/proj/git1','','aborted text','1.18.33',NULL,0,0,0,NULL,NULL,0.0,0,0,0,0,0,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297082614,1795297082704,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff4731effeGjx26SjjKo20s5','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'eager-orchid','/srv/opencode-lab/proj/git1','','aborted tool','1.18.33',NULL,0,0,0,NULL,NULL,0.0,0,0,0,0,0,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297086689,1795297086735,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff45f5dffews152aVqX750hV','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'jolly-cabin','/srv/opencode-lab/proj/git1','','rejected','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297091746,1795297095918,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff447d6ffeVOG8pIjyH0xjUK','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'quick-rocket','/srv/opencode-lab/proj/git1','','question','1.18.33',NULL,0,0,0,NULL,NULL,0.00377955,1000,50,0,11,7,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297097769,1795297102034,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff4303fffe1y74Eu4U40gnFz','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'nimble-cactus','/srv/opencode-lab/proj/git1','','commands','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297103808,1795297105598,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff42fc7ffejO5ds6se52Xftl','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,'ses_dfff4303fffe1y74Eu4U40gnFz','lucky-garden','/srv/opencode-lab/proj/git1','','d (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.00377955,1000,50,0,11,7,NULL,'[{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297103928,1795297104503,NULL,NULL);
INSERT INTO "session" VALUES('ses_dfff4293dffeFGso45Vn4cwfZP','c634cd036993f3cf0b305016f4fd61d94ccda3da',NULL,NULL,'playful-knight','/srv/opencode-lab/proj/git1','','files','1.18.33',NULL,0,0,0,NULL,NULL,0.0075591,2000,100,0,22,14,NULL,NULL,'build','{"id":"claude-sonnet-4-5","providerID":"anthropic","variant":"default"}',1795297105602,1795297107681,NULL,NULL);
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
