/** The operations of the interface. Written by `npm run openapi` from the contract. Do not edit it. */
import type {
  Agent,
  AgentNotFound,
  AgentPage,
  AgentVersion,
  AgentVersionNotFound,
  AgentVersionPage,
  AuditEntry,
  AuditPage,
  AuthorizationUnavailable,
  Configuration,
  ConfigurationPage,
  Conversation,
  CreateAgentBody,
  CreateAgentVersionBody,
  CreateEventBody,
  CreateFingerprintBody,
  CreatePersonBody,
  ErasePersonAnswer,
  EraseSessionAnswer,
  Event,
  EventDamaged,
  EventInputs,
  EventNotFound,
  EventOutput,
  EventPage,
  EventReceipt,
  EventSummary,
  FingerprintCreated,
  FingerprintNotFound,
  FingerprintPage,
  Forbidden,
  Healthy,
  IdempotencyKeyReused,
  Me,
  NewEvents,
  Ok,
  Overloaded,
  PayloadTooLarge,
  Person,
  PersonNotFound,
  PersonPage,
  RegisteredFingerprint,
  SearchPage,
  SearchResult,
  Session,
  SessionCall,
  SessionCallPage,
  SessionIdEmpty,
  SessionMessage,
  SessionMessagePage,
  SessionNotFound,
  SessionPage,
  SharedText,
  SharedTextDamaged,
  SharedTextNotFound,
  StorageUnavailable,
  StorageUsage,
  Unauthorized,
  UnsupportedContentEncoding,
  UpdatePersonBody,
  UsageGroup,
  UsagePage,
  ValidationError
} from "./Types.ts"

/** What each operation takes, and what it answers. */
export interface Operations {
  /** Record a model call. */
  createEvent: {
    input: {
      readonly idempotency_key?: string | undefined
      readonly body: CreateEventBody | string
    }
    answer: EventReceipt
    error: Unauthorized | Forbidden | FingerprintNotFound | PayloadTooLarge | UnsupportedContentEncoding | SessionIdEmpty | IdempotencyKeyReused | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List events without their payloads. */
  listEvents: {
    input: {
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly after_event?: string | undefined
      readonly before_event?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: EventPage
    row: EventSummary
    error: Unauthorized | Forbidden | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Follow events as they are recorded, as lines of JSON, or wait for some. */
  streamEvents: {
    input: {
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly cursor?: string | undefined
      readonly wait?: number | undefined
    }
    answer: NewEvents
    row: EventSummary
    line: unknown
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read an event, with its payload as it was sent. */
  getEvent: {
    input: {
      readonly event_id: string
    }
    answer: Event
    error: Unauthorized | Forbidden | EventNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read a call in normal form: its messages, instructions, tools and parameters. */
  getEventMessages: {
    input: {
      readonly event_id: string
    }
    answer: Conversation
    error: Unauthorized | Forbidden | EventNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read the inputs of an event byte for byte, or a `Range` of them; 304 if `If-None-Match` has the `ETag`. */
  getEventInputs: {
    input: {
      readonly event_id: string
    }
    answer: EventInputs
    error: Unauthorized | Forbidden | EventNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read the output of an event byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`. */
  getEventOutput: {
    input: {
      readonly event_id: string
    }
    answer: EventOutput
    error: Unauthorized | Forbidden | EventNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Register a client's environment. */
  createFingerprint: {
    input: {
      readonly body: CreateFingerprintBody | string
    }
    answer: FingerprintCreated
    error: Unauthorized | Forbidden | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List the registered environments in the order of their ids. */
  listFingerprints: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: FingerprintPage
    row: RegisteredFingerprint
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read a registered environment. */
  getFingerprint: {
    input: {
      readonly fingerprint_id: string
    }
    answer: RegisteredFingerprint
    error: Unauthorized | Forbidden | FingerprintNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Create an agent. */
  createAgent: {
    input: {
      readonly body: CreateAgentBody | string
    }
    answer: Agent
    error: Unauthorized | Forbidden | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List agents in the order of their numbers. */
  listAgents: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: AgentPage
    row: Agent
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read an agent. */
  getAgent: {
    input: {
      readonly agent_name: string
    }
    answer: Agent
    error: Unauthorized | Forbidden | AgentNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Create a version of an agent. */
  createAgentVersion: {
    input: {
      readonly agent_name: string
      readonly body: CreateAgentVersionBody | string
    }
    answer: AgentVersion
    error: Unauthorized | Forbidden | AgentNotFound | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List the versions of an agent in the order of their numbers. */
  listAgentVersions: {
    input: {
      readonly agent_name: string
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: AgentVersionPage
    row: AgentVersion
    error: Unauthorized | Forbidden | AgentNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read a version of an agent. */
  getAgentVersion: {
    input: {
      readonly agent_name: string
      readonly agent_version_name: string
    }
    answer: AgentVersion
    error: Unauthorized | Forbidden | AgentNotFound | AgentVersionNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List what a version of an agent ran with, and what the calls add up to. */
  listConfigurations: {
    input: {
      readonly agent_name: string
      readonly agent_version_name: string
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: ConfigurationPage
    row: Configuration
    error: Unauthorized | Forbidden | AgentNotFound | AgentVersionNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Deprecate a version of an agent; a second time changes nothing. */
  deprecateAgentVersion: {
    input: {
      readonly agent_name: string
      readonly agent_version_name: string
    }
    answer: AgentVersion
    error: Unauthorized | Forbidden | AgentNotFound | AgentVersionNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Create a person. */
  createPerson: {
    input: {
      readonly body: CreatePersonBody | string
    }
    answer: Person
    error: Unauthorized | Forbidden | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List people in the order of their creation. */
  listPeople: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: PersonPage
    row: Person
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Replace a person's properties. */
  updatePerson: {
    input: {
      readonly person_id: string
      readonly body: UpdatePersonBody | string
    }
    answer: Person
    error: Unauthorized | Forbidden | PersonNotFound | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read a person. */
  getPerson: {
    input: {
      readonly person_id: string
    }
    answer: Person
    error: Unauthorized | Forbidden | PersonNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Erase a person, their events, and content that only those events hold. */
  erasePerson: {
    input: {
      readonly person_id: string
    }
    answer: ErasePersonAnswer
    error: Unauthorized | Forbidden | PersonNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Find where something was said, in messages and in arguments and results of tools. */
  search: {
    input: {
      readonly q: string
      readonly case?: "sensitive" | undefined
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: SearchPage
    row: SearchResult
    line: unknown
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List sessions by the times of their last calls, with what their calls add up to. */
  listSessions: {
    input: {
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly model?: string | undefined
      readonly error?: true | false | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: SessionPage
    row: Session
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read what the calls of a session add up to. */
  getSession: {
    input: {
      readonly session: string
    }
    answer: Session
    error: Unauthorized | Forbidden | SessionNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Erase a session, its events, and content that only those events hold. */
  eraseSession: {
    input: {
      readonly session: string
    }
    answer: EraseSessionAnswer
    error: Unauthorized | Forbidden | SessionNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read the messages of a session, each once. */
  listSessionMessages: {
    input: {
      readonly session: string
      readonly verbatim?: true | false | undefined
      readonly after_number?: number | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: SessionMessagePage
    row: SessionMessage
    error: Unauthorized | Forbidden | SessionNotFound | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List the calls of a session, and what each carried of its messages. */
  listSessionCalls: {
    input: {
      readonly session: string
      readonly after_event?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: SessionCallPage
    row: SessionCall
    error: Unauthorized | Forbidden | SessionNotFound | EventNotFound | ValidationError | EventDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read a long text that calls of the project share, byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`. */
  getSharedText: {
    input: {
      readonly sha256: string
    }
    answer: SharedText
    error: Unauthorized | Forbidden | SharedTextNotFound | ValidationError | SharedTextDamaged | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Add up calls, tokens and cost, by time, name or model. */
  readUsage: {
    input: {
      readonly group_by?: string | undefined
      readonly time_zone?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly model?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: UsagePage
    row: UsageGroup
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read the size of payloads, as sent and as stored. */
  readStorage: {
    input: {
      readonly sessions?: number | undefined
    }
    answer: StorageUsage
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** List who erased what, and which keys were created and revoked, the latest first. */
  listAudit: {
    input: {
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: AuditPage
    row: AuditEntry
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Export events whole, with all that they name, as lines of JSON. */
  export: {
    input: {
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly after_event?: string | undefined
      readonly limit?: string | undefined
    }
    answer: string
    line: unknown
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Import what was exported, with the same ids; each line is answered. */
  import: {
    input: {
      readonly answers?: "all" | "failed" | undefined
      readonly body: NonNullable<RequestInit["body"]>
    }
    answer: string
    line: unknown
    error: Unauthorized | Forbidden | PayloadTooLarge | UnsupportedContentEncoding | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  /** Read what the key opens, and what the server is. */
  getMe: {
    input: {}
    answer: Me
    error: Unauthorized | Forbidden | ValidationError | Overloaded | StorageUnavailable | AuthorizationUnavailable
  }

  health: {
    input: {}
    answer: Healthy
    error: never
  }

  ready: {
    input: {}
    answer: Ok
    error: StorageUnavailable
  }

  metrics: {
    input: {}
    answer: string
    error: Overloaded
  }
}

/** Where to send each operation. */
export const operations = {
  createEvent: {"method":"POST","path":"/api/v1/events","headers":["idempotency_key"]},
  listEvents: {"method":"GET","path":"/api/v1/events","rows":"events"},
  streamEvents: {"method":"GET","path":"/api/v1/events/stream","rows":"events","hasLines":true},
  getEvent: {"method":"GET","path":"/api/v1/events/{event_id}"},
  getEventMessages: {"method":"GET","path":"/api/v1/events/{event_id}/messages"},
  getEventInputs: {"method":"GET","path":"/api/v1/events/{event_id}/inputs"},
  getEventOutput: {"method":"GET","path":"/api/v1/events/{event_id}/output"},
  createFingerprint: {"method":"PUT","path":"/api/v1/fingerprints"},
  listFingerprints: {"method":"GET","path":"/api/v1/fingerprints","rows":"fingerprints"},
  getFingerprint: {"method":"GET","path":"/api/v1/fingerprints/{fingerprint_id}"},
  createAgent: {"method":"PUT","path":"/api/v1/agents"},
  listAgents: {"method":"GET","path":"/api/v1/agents","rows":"agents"},
  getAgent: {"method":"GET","path":"/api/v1/agents/{agent_name}"},
  createAgentVersion: {"method":"PUT","path":"/api/v1/agents/{agent_name}/agent-versions"},
  listAgentVersions: {"method":"GET","path":"/api/v1/agents/{agent_name}/agent-versions","rows":"agent_versions"},
  getAgentVersion: {"method":"GET","path":"/api/v1/agents/{agent_name}/agent-versions/{agent_version_name}"},
  listConfigurations: {"method":"GET","path":"/api/v1/agents/{agent_name}/agent-versions/{agent_version_name}/configurations","rows":"configurations"},
  deprecateAgentVersion: {"method":"POST","path":"/api/v1/agents/{agent_name}/agent-versions/{agent_version_name}/deprecate"},
  createPerson: {"method":"PUT","path":"/api/v1/people"},
  listPeople: {"method":"GET","path":"/api/v1/people","rows":"people"},
  updatePerson: {"method":"PUT","path":"/api/v1/people/{person_id}"},
  getPerson: {"method":"GET","path":"/api/v1/people/{person_id}"},
  erasePerson: {"method":"DELETE","path":"/api/v1/people/{person_id}"},
  search: {"method":"GET","path":"/api/v1/search","rows":"results","hasLines":true},
  listSessions: {"method":"GET","path":"/api/v1/sessions","rows":"sessions"},
  getSession: {"method":"GET","path":"/api/v1/sessions/{session}"},
  eraseSession: {"method":"DELETE","path":"/api/v1/sessions/{session}"},
  listSessionMessages: {"method":"GET","path":"/api/v1/sessions/{session}/messages","rows":"messages"},
  listSessionCalls: {"method":"GET","path":"/api/v1/sessions/{session}/calls","rows":"calls"},
  getSharedText: {"method":"GET","path":"/api/v1/shared/{sha256}"},
  readUsage: {"method":"GET","path":"/api/v1/usage","rows":"usage"},
  readStorage: {"method":"GET","path":"/api/v1/storage"},
  listAudit: {"method":"GET","path":"/api/v1/audit","rows":"entries"},
  export: {"method":"GET","path":"/api/v1/export","hasLines":true},
  import: {"method":"POST","path":"/api/v1/import","bodyType":"application/x-ndjson","hasLines":true},
  getMe: {"method":"GET","path":"/api/v1/me"},
  health: {"method":"GET","path":"/health"},
  ready: {"method":"GET","path":"/ready"},
  metrics: {"method":"GET","path":"/metrics"}
} as const
