/** The values on the wire. Written by `npm run openapi` from the contract. Do not edit it. */

export interface Agent {
  readonly agent_name: string
  readonly agent_number: number
  readonly created_at: string
  readonly description: string
}

export interface AgentNotFound {
  readonly type: "agent-not-found"
}

export interface AgentPage {
  readonly agents: ReadonlyArray<Agent>
  readonly next_cursor: string | null
}

export interface AgentVersion {
  readonly agent_version_name: string
  readonly description: string | null
  readonly agent_version_number: number
  readonly created_at: string
  readonly deprecated_at: string | null
}

export interface AgentVersionNotFound {
  readonly type: "agent-version-not-found"
}

export interface AgentVersionPage {
  readonly agent_versions: ReadonlyArray<AgentVersion>
  readonly next_cursor: string | null
}

export interface AuditEntry {
  readonly audit_id: string
  readonly at: string
  readonly action: "key-created" | "key-revoked" | "session-erasure" | "session-erased" | "event-erasure" | "event-erased" | "person-erasure" | "person-erased" | "retention"
  readonly actor: string
  readonly subject: string | null
  readonly events: number | null
}

export interface AuditPage {
  readonly entries: ReadonlyArray<AuditEntry>
  readonly next_cursor: string | null
}

export interface AuthorizationUnavailable {
  readonly type: "authorization-unavailable"
}

export interface Configuration {
  readonly model: string | null
  readonly parameters: Readonly<Record<string, unknown>>
  readonly instructions: ReadonlyArray<MessagePart>
  readonly tools: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly fingerprint_id: string
  readonly first_used_at: string
  readonly last_used_at: string
  readonly first_event_id: string
  readonly events: number
  readonly errors: number
  readonly unpriced_events: number
  readonly partly_priced_events: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: string | null
  readonly duration_ms_p50: number | null
  readonly duration_ms_p95: number | null
  readonly duration_ms_p99: number | null
  readonly variants: ConfigurationVariants | null
  readonly is_damaged: boolean
}

export interface ConfigurationPage {
  readonly configurations: ReadonlyArray<Configuration>
  readonly next_cursor: string | null
}

export interface ConfigurationVariants {
  readonly count: number
  readonly part: number
  readonly character: number
  readonly latest: ReadonlyArray<{ readonly text: string; readonly last_used_at: string; readonly first_event_id: string; readonly events: number; readonly cost_usd: string | null }>
}

export interface Conversation {
  readonly event_id: string
  readonly instructions: ReadonlyArray<MessagePart>
  readonly leading_instructions: number
  readonly tools: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters: Readonly<Record<string, unknown>>
  readonly input: ReadonlyArray<Message>
  readonly output: ReadonlyArray<Message>
}

export interface CreateAgentBody {
  readonly agent_name: string
  readonly description?: string | null | undefined
}

export interface CreateAgentVersionBody {
  readonly agent_version_name: string
  readonly description?: string | null | undefined
}

export interface CreateEventBody {
  readonly event_name: "llm"
  readonly properties: { readonly api: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages"; readonly inputs: Readonly<Record<string, unknown>>; readonly output: Readonly<Record<string, unknown>> }
  readonly fingerprint_id: string
  readonly agent?: string | null | undefined
  readonly agent_version?: string | null | undefined
  readonly person?: string | null | undefined
  readonly session: string
  readonly occurred_at?: string | null | undefined
  readonly duration_ms?: number | null | undefined
  readonly first_token_ms?: number | null | undefined
  readonly http_status?: number | null | undefined
  readonly trace_id?: string | null | undefined
  readonly span_id?: string | null | undefined
  readonly recorded?: { readonly redacted?: number | undefined; readonly subagent?: string | undefined } & Readonly<Record<string, unknown>> | null | undefined
  readonly model?: string | null | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined
}

export interface CreateFingerprintBody {
  readonly language: string
  readonly language_version: string
  readonly system: string
  readonly provider1_sdk_version?: string | null | undefined
  readonly provider2_sdk_version?: string | null | undefined
  readonly provider3_sdk_version?: string | null | undefined
  readonly service_sdk_version?: string | null | undefined
  readonly all_packages?: Readonly<Record<string, string>> | null | undefined
  readonly git_repository_url?: string | null | undefined
  readonly git_branch?: string | null | undefined
  readonly git_commit_hash?: string | null | undefined
  readonly git_commit_date?: string | null | undefined
  readonly openai_sdk_version?: string | null | undefined
  readonly anthropic_sdk_version?: string | null | undefined
  readonly gemini_sdk_version?: string | null | undefined
  readonly google_sdk_version?: string | null | undefined
  readonly tachograph_sdk_version?: string | null | undefined
}

export interface CreatePersonBody {
  readonly person_id: string
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined
}

export interface ErasureReceipt {
  readonly events: number
  readonly sessions: number
  readonly pieces: number
  readonly bytes: number
  readonly damaged: number
}

export interface Event {
  readonly event_id: string
  readonly received_at: string
  readonly event_name: "llm"
  readonly properties: { readonly api: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk"; readonly inputs: Readonly<Record<string, unknown>>; readonly output: Readonly<Record<string, unknown>> }
  readonly fingerprint_id: string
  readonly agent: string
  readonly agent_version: string
  readonly person: string | null
  readonly session: string
  readonly occurred_at: string | null
  readonly duration_ms: number | null
  readonly first_token_ms: number | null
  readonly http_status: number | null
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly recorded: { readonly redacted?: number | undefined; readonly subagent?: string | undefined } & Readonly<Record<string, unknown>> | null
  readonly provider: string | null
  readonly model: string | null
  readonly response_model: string | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cache_read_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly stop_reason: "end" | "length" | "tool_calls" | "refusal" | "content_filter" | "pause" | "error" | "other" | null
  readonly provider_stop_reason: string | null
  readonly tool_calls: ReadonlyArray<string> | null
  readonly error_type: string | null
  readonly error_code: string | null
  readonly error_status: number | null
  readonly cost_usd: string | null
  readonly stated_cost_usd: string | null
  readonly list_cost_usd: string | null
  readonly price: string | null
  readonly price_is_exact: boolean | null
  readonly unpriced_parts: ReadonlyArray<"audio" | "images" | "video" | "cache_write_1h" | "citations" | "web_search" | "file_search" | "code_interpreter" | "maps" | "advisor"> | null
  readonly unpriced: "no-model" | "no-usage" | "usage-invalid" | "unknown-model" | "service-tier" | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export interface EventDamaged {
  readonly type: "event-damaged"
  readonly event_id: string
}

export type EventInputs = Readonly<Record<string, unknown>>

export interface EventNotFound {
  readonly type: "event-not-found"
}

export type EventOutput = Readonly<Record<string, unknown>>

export interface EventPage {
  readonly events: ReadonlyArray<ListedEvent>
  readonly next_cursor: string | null
}

export interface EventReceipt {
  readonly event_id: string
  readonly received_at: string
}

export interface EventSummary extends Omit<Event, "event_name" | "properties" | "metadata"> {
  readonly api: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk"
  readonly inputs_bytes: number
  readonly output_bytes: number
}

export interface Failure {
  readonly failure: string
  readonly http_status: number | null
  readonly error_type: string
  readonly error_code: string | null
  readonly message: string | null
  readonly events: number
  readonly sessions: number
  readonly people: number
  readonly first_at: string
  readonly last_at: string
  readonly event_id: string
  readonly session: string
  readonly agent_versions: ReadonlyArray<{ readonly agent: string; readonly agent_version: string; readonly events: number }>
  readonly other_agent_versions: number
  readonly models: ReadonlyArray<{ readonly model: string | null; readonly events: number }>
  readonly other_models: number
}

export interface FailurePage {
  readonly failures: ReadonlyArray<Failure>
  readonly events: number
  readonly damaged_events: number
  readonly next_cursor: string | null
}

export interface FingerprintCreated {
  readonly fingerprint_id: string
}

export interface FingerprintNotFound {
  readonly type: "fingerprint-not-found"
}

export interface FingerprintPage {
  readonly fingerprints: ReadonlyArray<RegisteredFingerprint>
  readonly next_cursor: string | null
}

export interface Forbidden {
  readonly type: "forbidden"
}

export interface Healthy {
  readonly status: "ok"
  readonly version: string
}

export interface IdempotencyKeyReused {
  readonly type: "idempotency-key-reused"
}

export interface ListedEvent extends EventSummary {
  readonly retried_by?: string | undefined
}

export interface Me {
  readonly project: string
  readonly actor: string
  readonly scopes: ReadonlyArray<"record" | "read" | "admin">
  readonly version: string
  readonly retention_ms: number | null
  readonly prices: string
  readonly rules: string
  readonly proxy_upstreams: ReadonlyArray<string> | null
  readonly events_by_rules: ReadonlyArray<{ readonly rules: string; readonly events: number }> | null
}

export interface Message {
  readonly role: string
  readonly parts: ReadonlyArray<MessagePart>
  readonly [key: string]: unknown
}

export interface MessagePart {
  readonly type: string
  readonly [key: string]: unknown
}

export interface NewEvents {
  readonly events: ReadonlyArray<EventSummary>
  readonly next_cursor: string
}

export interface Ok {
  readonly status: "ok"
}

export interface Overloaded {
  readonly type: "overloaded"
}

export interface PayloadTooLarge {
  readonly type: "payload-too-large"
}

export interface Person {
  readonly person_id: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly created_at: string
}

export interface PersonNotFound {
  readonly type: "person-not-found"
}

export interface PersonPage {
  readonly people: ReadonlyArray<PersonWithUsage>
  readonly next_cursor: string | null
}

export interface PersonWithUsage {
  readonly person_id: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly created_at: string
  readonly usage: UsageGroup | null
}

export interface RegisteredFingerprint {
  readonly fingerprint_id: string
  readonly language: string
  readonly language_version: string
  readonly system: string
  readonly provider1_sdk_version: string | null
  readonly provider2_sdk_version: string | null
  readonly provider3_sdk_version: string | null
  readonly service_sdk_version: string | null
  readonly all_packages: Readonly<Record<string, string>> | null
  readonly git_repository_url: string | null
  readonly git_branch: string | null
  readonly git_commit_hash: string | null
  readonly git_commit_date: string | null
  readonly created_at: string
}

export interface SearchPage {
  readonly results: ReadonlyArray<SearchResult>
  readonly damaged_events: number
  readonly next_cursor: string | null
}

export interface SearchResult {
  readonly event_id: string
  readonly session: string
  readonly role: string
  readonly at: string
  readonly snippet: string
  readonly hit_start: number
  readonly hit_end: number
}

export interface SearchedSession extends SearchResult {
  readonly hits: number
}

export interface SearchedSessionPage {
  readonly sessions: ReadonlyArray<SearchedSession>
  readonly damaged_events: number
  readonly next_cursor: string | null
}

export interface Session {
  readonly session: string
  readonly title: string | null
  readonly first_event_at: string
  readonly last_event_at: string
  readonly events: number
  readonly errors: number
  readonly unpriced_events: number
  readonly partly_priced_events: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: string | null
  readonly agents: ReadonlyArray<string>
  readonly agent_versions: ReadonlyArray<string>
  readonly people: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly sent_bytes: number
  readonly new_bytes: number
}

export interface SessionCall extends EventSummary {
  readonly parent_event_id: string | null
  readonly error_message: string | null
  readonly retry_of: string | null
  readonly retried_by: string | null
  readonly kept_messages: number
  readonly new_messages: ReadonlyArray<number>
  readonly gone_messages: ReadonlyArray<number>
  readonly output: ReadonlyArray<number>
  readonly carried: { readonly kept: number; readonly runs: ReadonlyArray<readonly [number, number]> }
  readonly instruction_messages: ReadonlyArray<number>
  readonly instruction_characters: number | null
  readonly instructions_changed: boolean
  readonly tools_changed: boolean
  readonly parameters_changed: boolean
  readonly input_prices: { readonly input_mtok: number; readonly cache_read_mtok: number | null; readonly cache_write_mtok: number } | null
  readonly is_damaged: boolean
}

export interface SessionCallPage {
  readonly calls: ReadonlyArray<SessionCall>
  readonly next_cursor: string | null
}

export interface SessionIdEmpty {
  readonly type: "session-id-empty"
}

export interface SessionMessage {
  readonly number: number
  readonly event_id: string
  readonly at: string
  readonly from: "input" | "output"
  readonly role: string
  readonly parts: ReadonlyArray<MessagePart>
  readonly verbatim?: string | null | undefined
  readonly instruction_parts?: ReadonlyArray<number> | undefined
  readonly is_damaged?: true | undefined
  readonly [key: string]: unknown
}

export interface SessionMessagePage {
  readonly messages: ReadonlyArray<SessionMessage>
  readonly damaged_calls: number
  readonly next_cursor: string | null
}

export interface SessionNotFound {
  readonly type: "session-not-found"
}

export interface SessionPage {
  readonly sessions: ReadonlyArray<Session>
  readonly next_cursor: string | null
}

export type SharedText = unknown

export interface SharedTextDamaged {
  readonly type: "shared-text-damaged"
}

export interface SharedTextNotFound {
  readonly type: "shared-text-not-found"
}

export interface SignIn {
  readonly by: "key" | "application" | "oidc"
  readonly login: string | null
  readonly logout: string | null
}

export interface Step {
  readonly trace_id: string
  readonly span_id: string
  readonly occurred_at: string
  readonly received_at: string
  readonly agent: string
  readonly agent_version: string
  readonly person: string | null
  readonly parent_span_id: string | null
  readonly name: string
  readonly kind: "tool" | "agent" | "retrieval" | "embedding" | "chain" | "guardrail" | "other"
  readonly duration_ms: number | null
  readonly status: "unset" | "ok" | "error"
  readonly message: string | null
  readonly recorded: { readonly redacted?: number | undefined; readonly subagent?: string | undefined } & Readonly<Record<string, unknown>> | null
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface StepPage {
  readonly steps: ReadonlyArray<Step>
  readonly damaged_steps: number
  readonly next_cursor: string | null
}

export interface StorageUnavailable {
  readonly type: "storage-unavailable"
  readonly message?: string | undefined
}

export interface StorageUsage {
  readonly events: number
  readonly sent_bytes: number
  readonly new_bytes: number
  readonly stored_bytes: number
  readonly shared: { readonly pieces: number; readonly new_bytes: number; readonly stored_bytes: number }
  readonly agents: ReadonlyArray<{ readonly agent: string; readonly events: number; readonly sent_bytes: number; readonly new_bytes: number; readonly stored_bytes: number }>
  readonly sessions: ReadonlyArray<{ readonly session: string; readonly events: number; readonly sent_bytes: number; readonly new_bytes: number; readonly stored_bytes: number }>
}

export interface Unauthorized {
  readonly type: "unauthorized"
}

export interface UnsupportedContentEncoding {
  readonly type: "unsupported-content-encoding"
}

export interface UpdatePersonBody {
  readonly properties: Readonly<Record<string, unknown>>
}

export interface UsageGroup {
  readonly hour?: string | null | undefined
  readonly day?: string | null | undefined
  readonly agent?: string | null | undefined
  readonly agent_version?: string | null | undefined
  readonly model?: string | null | undefined
  readonly person?: string | null | undefined
  readonly session?: string | null | undefined
  readonly api?: string | null | undefined
  readonly events: number
  readonly errors: number
  readonly unpriced_events: number
  readonly partly_priced_events: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: string | null
  readonly sessions: number | null
  readonly unpriced_sessions: number | null
  readonly cost_usd_per_session: { readonly mean: string; readonly median: string; readonly p95: string } | null
  readonly last_event_at: string | null
  readonly duration_ms_p50: number | null
  readonly duration_ms_p95: number | null
  readonly duration_ms_p99: number | null
}

export interface UsagePage {
  readonly usage: ReadonlyArray<UsageGroup>
  readonly next_cursor: string | null
  readonly total: UsageGroup | null
}

export interface ValidationError {
  readonly detail: ReadonlyArray<{ readonly type: string; readonly loc: ReadonlyArray<string>; readonly msg: string; readonly input: unknown; readonly ctx?: Readonly<Record<string, unknown>> | undefined }>
}
