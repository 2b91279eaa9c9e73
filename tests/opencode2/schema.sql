-- The tables of OpenCode 2 that a reader of sessions touches, by the source of 2.0.26. Not captured from the program.
CREATE TABLE IF NOT EXISTS migration(id text PRIMARY KEY, time_completed integer NOT NULL);
CREATE TABLE IF NOT EXISTS kv(key text PRIMARY KEY, value text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE IF NOT EXISTS project(id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, icon_url text, icon_url_override text, icon_color text,
  time_created integer NOT NULL, time_updated integer NOT NULL, time_initialized integer, time_active integer DEFAULT 0 NOT NULL,
  sandboxes text NOT NULL, commands text);
CREATE TABLE IF NOT EXISTS session_v2(id text PRIMARY KEY, project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE, workspace_id text, parent_id text,
  fork_session_id text, fork_boundary text, slug text NOT NULL, directory text NOT NULL, path text, title text, version text NOT NULL,
  share_url text, summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text, metadata text,
  cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
  tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL,
  revert text, permission text, agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL,
  time_idle integer, time_viewed integer, idle_outcome text, time_compacting integer, time_archived integer, time_suspended integer,
  resume_attempts integer DEFAULT 0 NOT NULL);
CREATE TABLE IF NOT EXISTS session_message(id text PRIMARY KEY, session_id text NOT NULL REFERENCES session_v2(id) ON DELETE CASCADE, type text NOT NULL,
  seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE IF NOT EXISTS session_inbox(id text PRIMARY KEY, session_id text NOT NULL REFERENCES session_v2(id) ON DELETE CASCADE, type text NOT NULL,
  payload text NOT NULL, delivery text NOT NULL, enqueued_seq integer NOT NULL, time_created integer NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS session_inbox_session_enqueued_seq_idx ON session_inbox(session_id,enqueued_seq);
CREATE UNIQUE INDEX IF NOT EXISTS session_message_session_seq_idx ON session_message(session_id,seq);
CREATE INDEX IF NOT EXISTS session_message_session_type_seq_idx ON session_message(session_id,type,seq);
CREATE INDEX IF NOT EXISTS session_message_session_time_created_id_idx ON session_message(session_id,time_created,id);
CREATE INDEX IF NOT EXISTS session_message_time_created_idx ON session_message(time_created);
CREATE INDEX IF NOT EXISTS session_v2_project_idx ON session_v2(project_id);
CREATE INDEX IF NOT EXISTS session_v2_workspace_idx ON session_v2(workspace_id);
CREATE INDEX IF NOT EXISTS session_v2_parent_idx ON session_v2(parent_id);
CREATE INDEX IF NOT EXISTS session_v2_time_suspended_idx ON session_v2(time_suspended) WHERE time_suspended IS NOT NULL;
