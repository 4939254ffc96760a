/** The operations of the interface. Written by `npm run openapi` from the contract. Do not edit it. */
import type * as Types from "./Types.ts"

/** What each operation takes, and what it answers. */
export interface Operations {
  /** Record a model call. */
  createEvent: {
    input: {
      readonly idempotency_key?: string | undefined
      readonly body: Types.CreateEventBody | string
    }
    answer: Types.EventReceipt
    error: Types.Unauthorized | Types.Forbidden | Types.FingerprintNotFound | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.SessionIdEmpty | Types.IdempotencyKeyReused | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List events without their payloads, in the order of recording or sorted by a figure. */
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
      readonly failure?: string | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly retried?: true | undefined
      readonly after_event?: string | undefined
      readonly before_event?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly sort?: "last" | "cost" | "tokens" | "duration" | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: Types.EventPage
    row: Types.ListedEvent
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Record many model calls, each a line of JSON, and each answered by a line. */
  createEvents: {
    input: { readonly body: NonNullable<RequestInit["body"]> }
    answer: string
    line: unknown
    error: Types.Unauthorized | Types.Forbidden | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
      readonly failure?: string | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly cursor?: string | undefined
      readonly wait?: number | undefined
    }
    answer: Types.NewEvents
    row: Types.EventSummary
    line: unknown
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read an event, with its payload as it was sent. */
  getEvent: {
    input: { readonly event_id: string }
    answer: Types.Event
    error: Types.Unauthorized | Types.Forbidden | Types.EventNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Erase an event, and content that only this event holds. */
  eraseEvent: {
    input: { readonly event_id: string }
    answer: Types.ErasureReceipt
    error: Types.Unauthorized | Types.Forbidden | Types.EventNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read a call in normal form: its messages, instructions, tools and parameters. */
  getEventMessages: {
    input: { readonly event_id: string }
    answer: Types.Conversation
    error: Types.Unauthorized | Types.Forbidden | Types.EventNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read the inputs of an event byte for byte, or a `Range` of them; 304 if `If-None-Match` has the `ETag`. */
  getEventInputs: {
    input: { readonly event_id: string }
    answer: Types.EventInputs
    error: Types.Unauthorized | Types.Forbidden | Types.EventNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read the output of an event byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`. */
  getEventOutput: {
    input: { readonly event_id: string }
    answer: Types.EventOutput
    error: Types.Unauthorized | Types.Forbidden | Types.EventNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Register a client's environment. */
  createFingerprint: {
    input: { readonly body: Types.CreateFingerprintBody | string }
    answer: Types.FingerprintCreated
    error: Types.Unauthorized | Types.Forbidden | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List the registered environments in the order of their ids. */
  listFingerprints: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.FingerprintPage
    row: Types.RegisteredFingerprint
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read a registered environment. */
  getFingerprint: {
    input: { readonly fingerprint_id: string }
    answer: Types.RegisteredFingerprint
    error: Types.Unauthorized | Types.Forbidden | Types.FingerprintNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Create an agent. */
  createAgent: {
    input: { readonly body: Types.CreateAgentBody | string }
    answer: Types.Agent
    error: Types.Unauthorized | Types.Forbidden | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List agents in the order of their numbers. */
  listAgents: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.AgentPage
    row: Types.Agent
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read an agent. */
  getAgent: {
    input: { readonly agent_name: string }
    answer: Types.Agent
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Create a version of an agent. */
  createAgentVersion: {
    input: {
      readonly agent_name: string
      readonly body: Types.CreateAgentVersionBody | string
    }
    answer: Types.AgentVersion
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List the versions of an agent in the order of their numbers. */
  listAgentVersions: {
    input: {
      readonly agent_name: string
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.AgentVersionPage
    row: Types.AgentVersion
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read a version of an agent. */
  getAgentVersion: {
    input: {
      readonly agent_name: string
      readonly agent_version_name: string
    }
    answer: Types.AgentVersion
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.AgentVersionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
    answer: Types.ConfigurationPage
    row: Types.Configuration
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.AgentVersionNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Deprecate a version of an agent; a second time changes nothing. */
  deprecateAgentVersion: {
    input: {
      readonly agent_name: string
      readonly agent_version_name: string
    }
    answer: Types.AgentVersion
    error: Types.Unauthorized | Types.Forbidden | Types.AgentNotFound | Types.AgentVersionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Create a person. */
  createPerson: {
    input: { readonly body: Types.CreatePersonBody | string }
    answer: Types.Person
    error: Types.Unauthorized | Types.Forbidden | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List people in the order of their creation, or those who have calls sorted by what these add up to. */
  listPeople: {
    input: {
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
      readonly sort?: "last" | "cost" | "calls" | "tokens" | "errors" | "duration" | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: Types.PersonPage
    row: Types.PersonWithUsage
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Replace a person's properties. */
  updatePerson: {
    input: {
      readonly person_id: string
      readonly body: Types.UpdatePersonBody | string
    }
    answer: Types.Person
    error: Types.Unauthorized | Types.Forbidden | Types.PersonNotFound | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read a person. */
  getPerson: {
    input: { readonly person_id: string }
    answer: Types.Person
    error: Types.Unauthorized | Types.Forbidden | Types.PersonNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Erase a person, their events, and content that only those events hold. */
  erasePerson: {
    input: { readonly person_id: string }
    answer: Types.ErasureReceipt
    error: Types.Unauthorized | Types.Forbidden | Types.PersonNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Find where something was said, in messages and in arguments and results of tools. */
  search: {
    input: {
      readonly q: string
      readonly case?: "sensitive" | undefined
      readonly role?: string | undefined
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly failure?: string | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.SearchPage
    row: Types.SearchResult
    line: unknown
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Find where something was said, in messages and in arguments and results of tools: one row a session, with its hits counted. */
  searchSessions: {
    input: {
      readonly q: string
      readonly case?: "sensitive" | undefined
      readonly role?: string | undefined
      readonly session?: string | undefined
      readonly agent?: string | undefined
      readonly agent_version?: string | undefined
      readonly person?: string | undefined
      readonly fingerprint?: string | undefined
      readonly api?: "provider1-chat-completions" | "provider1-responses" | "provider3-models" | "provider3-interactions" | "provider2-messages" | "provider2-beta-messages" | "aisdk" | "openai-chat-completions" | "openai-responses" | "gemini-models" | "google-models" | "gemini-interactions" | "google-interactions" | "anthropic-messages" | "anthropic-beta-messages" | undefined
      readonly model?: string | undefined
      readonly stop_reason?: string | undefined
      readonly error?: true | false | undefined
      readonly failure?: string | undefined
      readonly trace_id?: string | undefined
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly received_after?: string | undefined
      readonly received_before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.SearchedSessionPage
    row: Types.SearchedSession
    line: unknown
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List sessions by the times of their last calls, or sorted by what their calls add up to, with these sums. */
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
      readonly sort?: "last" | "cost" | "calls" | "tokens" | "errors" | "duration" | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: Types.SessionPage
    row: Types.Session
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read what the calls of a session add up to. */
  getSession: {
    input: { readonly session: string }
    answer: Types.Session
    error: Types.Unauthorized | Types.Forbidden | Types.SessionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Erase a session, its events, and content that only those events hold. */
  eraseSession: {
    input: { readonly session: string }
    answer: Types.ErasureReceipt
    error: Types.Unauthorized | Types.Forbidden | Types.SessionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
    answer: Types.SessionMessagePage
    row: Types.SessionMessage
    error: Types.Unauthorized | Types.Forbidden | Types.SessionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
    answer: Types.SessionCallPage
    row: Types.SessionCall
    error: Types.Unauthorized | Types.Forbidden | Types.SessionNotFound | Types.EventNotFound | Types.ValidationError | Types.EventDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read the steps of a session, such as tools that it ran, in the order of their starts. */
  listSessionSteps: {
    input: {
      readonly session: string
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.StepPage
    row: Types.Step
    error: Types.Unauthorized | Types.Forbidden | Types.SessionNotFound | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read a long text that calls of the project share, byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`. */
  getSharedText: {
    input: { readonly sha256: string }
    answer: Types.SharedText
    error: Types.Unauthorized | Types.Forbidden | Types.SharedTextNotFound | Types.ValidationError | Types.SharedTextDamaged | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Group failed calls by status and the provider's type and code, with its message. */
  listFailures: {
    input: {
      readonly failure?: string | undefined
      readonly session?: string | undefined
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
    answer: Types.FailurePage
    row: Types.Failure
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
      readonly sort?: "last" | "cost" | "calls" | "tokens" | "errors" | "duration" | undefined
      readonly order?: "asc" | "desc" | undefined
    }
    answer: Types.UsagePage
    row: Types.UsageGroup
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read the size of payloads, as sent and as stored. */
  readStorage: {
    input: { readonly sessions?: number | undefined }
    answer: Types.StorageUsage
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** List who erased what, and which keys were created and revoked, the latest first. */
  listAudit: {
    input: {
      readonly after?: string | undefined
      readonly before?: string | undefined
      readonly limit?: number | undefined
      readonly cursor?: string | undefined
    }
    answer: Types.AuditPage
    row: Types.AuditEntry
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
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
      readonly failure?: string | undefined
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
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Import what was exported, with the same ids; each line is answered. */
  import: {
    input: {
      readonly answers?: "all" | "failed" | undefined
      readonly body: NonNullable<RequestInit["body"]>
    }
    answer: string
    line: unknown
    error: Types.Unauthorized | Types.Forbidden | Types.PayloadTooLarge | Types.UnsupportedContentEncoding | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read what the key opens, and what the server is. */
  getMe: {
    input: {}
    answer: Types.Me
    error: Types.Unauthorized | Types.Forbidden | Types.ValidationError | Types.Overloaded | Types.StorageUnavailable | Types.AuthorizationUnavailable
  }

  /** Read how people sign in; needs no key. */
  getSignIn: {
    input: {}
    answer: Types.SignIn
    error: never
  }

  health: {
    input: {}
    answer: Types.Healthy
    error: never
  }

  ready: {
    input: {}
    answer: Types.Ok
    error: Types.StorageUnavailable
  }

  metrics: {
    input: {}
    answer: string
    error: Types.Overloaded
  }
}

/** Where to send each operation. */
export const operations = {
  createEvent: {"method":"POST","path":"/api/v1/events","headers":["idempotency_key"]},
  listEvents: {"method":"GET","path":"/api/v1/events","rows":"events"},
  createEvents: {"method":"POST","path":"/api/v1/events/batch","bodyType":"application/x-ndjson","hasLines":true},
  streamEvents: {"method":"GET","path":"/api/v1/events/stream","rows":"events","hasLines":true},
  getEvent: {"method":"GET","path":"/api/v1/events/{event_id}"},
  eraseEvent: {"method":"DELETE","path":"/api/v1/events/{event_id}"},
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
  searchSessions: {"method":"GET","path":"/api/v1/search/sessions","rows":"sessions","hasLines":true},
  listSessions: {"method":"GET","path":"/api/v1/sessions","rows":"sessions"},
  getSession: {"method":"GET","path":"/api/v1/sessions/{session}"},
  eraseSession: {"method":"DELETE","path":"/api/v1/sessions/{session}"},
  listSessionMessages: {"method":"GET","path":"/api/v1/sessions/{session}/messages","rows":"messages"},
  listSessionCalls: {"method":"GET","path":"/api/v1/sessions/{session}/calls","rows":"calls"},
  listSessionSteps: {"method":"GET","path":"/api/v1/sessions/{session}/steps","rows":"steps"},
  getSharedText: {"method":"GET","path":"/api/v1/shared/{sha256}"},
  listFailures: {"method":"GET","path":"/api/v1/failures","rows":"failures"},
  readUsage: {"method":"GET","path":"/api/v1/usage","rows":"usage"},
  readStorage: {"method":"GET","path":"/api/v1/storage"},
  listAudit: {"method":"GET","path":"/api/v1/audit","rows":"entries"},
  export: {"method":"GET","path":"/api/v1/export","hasLines":true},
  import: {"method":"POST","path":"/api/v1/import","bodyType":"application/x-ndjson","hasLines":true},
  getMe: {"method":"GET","path":"/api/v1/me"},
  getSignIn: {"method":"GET","path":"/api/v1/sign-in"},
  health: {"method":"GET","path":"/health"},
  ready: {"method":"GET","path":"/ready"},
  metrics: {"method":"GET","path":"/metrics","isText":true}
} as const
