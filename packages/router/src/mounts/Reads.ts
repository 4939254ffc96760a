/** What is read in process: the queries, and what they answer. */
import type {
  AgentVersions,
  Agents,
  Audit,
  ErrorDetail,
  Events,
  Fingerprints,
  Me,
  People,
  Usage,
  Sessions,
  Search
} from "@tachograph/api"

export interface InProject {
  /** 1 to 255 characters; `default` by default. */
  readonly project?: string | undefined
}

export type RecordedEvent = typeof Events.EventOnWire.Encoded
export type RecordedEventSummary = typeof Events.EventSummaryOnWire.Encoded
export type RecordedConversation = typeof Events.ConversationOnWire.Encoded
export type RecordedConfiguration = typeof AgentVersions.ConfigurationOnWire.Encoded
export type RecordedSessionCall = typeof Sessions.SessionCallOnWire.Encoded
export type RecordedAgent = typeof Agents.AgentOnWire.Encoded
export type RecordedAgentVersion = typeof AgentVersions.AgentVersionOnWire.Encoded
export type RecordedMe = typeof Me.MeOnWire.Encoded
export type RecordedAuditEntry = typeof Audit.AuditEntryOnWire.Encoded
export type RecordedPerson = typeof People.PersonOnWire.Encoded
export type Erased = typeof People.Erased.Encoded
export type NewPerson = typeof People.CreatePerson.Encoded
export type RecordedSession = typeof Sessions.SessionOnWire.Encoded
export type RecordedUsage = typeof Usage.UsageGroupOnWire.Encoded
export type RecordedFingerprint = typeof Fingerprints.FingerprintOnWire.Encoded

export interface PageQuery {
  /** 1 to 1,000; 100 by default. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the previous page, with the same filters and order. */
  readonly cursor?: string | undefined
}

/** A page of rows under this name. */
export type Page<Name extends string, Row> = Readonly<Record<Name, ReadonlyArray<Row>>> & {
  /** Null on the last page. */
  readonly next_cursor: string | null
}

/** The filters of events. */
export interface EventFilters {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly fingerprint?: string | undefined
  readonly api?: string | undefined
  readonly model?: string | undefined
  readonly stop_reason?: string | undefined
  readonly error?: boolean | undefined
  readonly trace_id?: string | undefined
  /** Calls that took place at this time or later (`occurred_at`, else `received_at`): ISO 8601 with a date and a time. */
  readonly after?: string | undefined
  /** Calls that took place before this time. */
  readonly before?: string | undefined
  /** Received at this time or later, whenever the call took place. */
  readonly received_after?: string | undefined
  /** Received before this time. */
  readonly received_before?: string | undefined
}

/** The query of List Events. */
export interface EventListQuery extends EventFilters, PageQuery {
  /** Only events that were recorded after the one with this id. */
  readonly after_event?: string | undefined
  /** Only events that were recorded before the one with this id. */
  readonly before_event?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

interface SessionPageQuery extends PageQuery {
  readonly order?: "asc" | "desc" | undefined
}

/** The query of List Session Messages. */
export interface SessionMessageQuery extends SessionPageQuery {
  /** With the JSON texts of the messages, as they were sent. */
  readonly verbatim?: boolean | undefined
  /** Only messages with a higher number. */
  readonly after_number?: number | undefined
}

/** The query of List Session Calls. */
export interface SessionCallQuery extends SessionPageQuery {
  /** Only calls that were recorded after this event of the session. */
  readonly after_event?: string | undefined
}

/** A message of a session. Numbers that JavaScript cannot hold are rounded. */
export interface RecordedSessionMessage {
  readonly number: number
  /** The call that carried it first, and when that was. */
  readonly event_id: string
  readonly at: string
  readonly from: "input" | "output"
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }>
  /** With `verbatim`: null where no value of the call is the message alone. */
  readonly verbatim?: string | null
  /** True if it cannot be read. It has no parts then. */
  readonly is_damaged?: true
  /** What else the provider's message holds. */
  readonly [key: string]: unknown
}

/** The query of Export. */
export interface ExportQuery extends EventFilters {
  /** Only events after the one with this id. */
  readonly after_event?: string | undefined
  /** How many events at most. */
  readonly limit?: number | undefined
}

/** The query of List Sessions. The times are those of a session's last event. */
export interface SessionListQuery extends PageQuery {
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly model?: string | undefined
  /** Whether a call of the session is an error. */
  readonly error?: boolean | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

export interface UsageQuery extends PageQuery {
  /** `day`, `hour`, `agent`, `agent_version`, `model`, `person`, `session`, `api`, or two of them: `day,model`. */
  readonly group_by?: string | undefined
  /** The time zone of days and hours: an IANA name. UTC by default. */
  readonly time_zone?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly model?: string | undefined
  readonly api?: string | undefined
  /** Calls that took place at this time or later (`occurred_at`, else `received_at`): ISO 8601 with a date and a time. */
  readonly after?: string | undefined
  /** Calls that took place before this time. */
  readonly before?: string | undefined
  /** Received at this time or later, whenever the call took place. */
  readonly received_after?: string | undefined
  /** Received before this time. */
  readonly received_before?: string | undefined
}

/** What has become of a line of an import; the last one counts the lines. */
export type ImportAnswer =
  | {
      /** From 1. */
      readonly line: number
      readonly type: string | null
      readonly event_id?: string
      /** `kept`: something else of this name exists, which was not changed. `ignored`: the line holds nothing to import. */
      readonly result: "imported" | "exists" | "kept" | "ignored" | "failed"
      /** As HTTP answers it, where the line was refused. */
      readonly error?: { readonly type: string } | { readonly detail: ReadonlyArray<ErrorDetail> }
    }
  | {
      /** `cut`: the lines could not be read to their end. */
      readonly type: "end" | "cut"
      /** Only of `cut`: nothing after this line was imported. */
      readonly after_line?: number
      readonly lines: number
      readonly imported: number
      readonly exists: number
      readonly kept: number
      readonly ignored: number
      readonly failed: number
    }

export type RecordedEvents = Page<"events", RecordedEventSummary>

/** Which events are followed, from where on: from now on without a cursor. */
export interface FollowQuery extends EventFilters {
  readonly cursor?: string | undefined
}

export interface AwaitQuery extends FollowQuery {
  /** Seconds to wait for events, 0 to 30. 30 by default. */
  readonly wait?: number | undefined
}

export interface NewEvents {
  /** None if none came in time. */
  readonly events: ReadonlyArray<RecordedEventSummary>
  readonly next_cursor: string
}

export interface FollowedEvent extends RecordedEventSummary {
  /** Where to go on after it. */
  readonly cursor: string
}

/** The query of Search. */
export interface SearchQuery extends EventFilters, PageQuery {
  /** Upper and lower case are alike. */
  readonly q: string
  /** Unless this is given. */
  readonly case?: "sensitive" | undefined
}

/** The texts that were found, the newest first. A page may have few or none although there are more. */
export type FoundTexts = Page<"results", typeof Search.SearchResultOnWire.Encoded> & {
  /** How many events could not be searched, because what is stored of them is damaged. */
  readonly damaged_events: number
}

/** Each rejects with a `TachographError`, such as `agent-not-found` or `validation-error`. */
export interface Reads {
  readonly getEvent: (eventId: string, options?: InProject) => Promise<RecordedEvent>
  /** The call in normal form. */
  readonly getEventMessages: (eventId: string, options?: InProject) => Promise<RecordedConversation>
  /** The JSON text of the event, with `inputs` and `output` byte for byte: parsing it may round numbers. */
  readonly getEventText: (eventId: string, options?: InProject) => Promise<string>
  /** One of the two texts alone, as it was sent. */
  readonly getEventInputs: (eventId: string, options?: InProject) => Promise<string>
  readonly getEventOutput: (eventId: string, options?: InProject) => Promise<string>
  /** The JSON text with this SHA-256, in lower-case hexadecimal, that calls of the project share. */
  readonly getSharedText: (sha256: string, options?: InProject) => Promise<string>
  readonly listEvents: (query?: EventListQuery, options?: InProject) => Promise<RecordedEvents>
  /** Sessions, the latest activity first unless asked otherwise, with what their calls add up to. */
  readonly listSessions: (query?: SessionListQuery, options?: InProject) => Promise<Page<"sessions", RecordedSession>>
  readonly getSession: (session: string, options?: InProject) => Promise<RecordedSession>
  /** What calls add up to, in groups. */
  readonly readUsage: (query?: UsageQuery, options?: InProject) => Promise<Page<"usage", RecordedUsage>>
  /** The events after a cursor, when there are some. */
  readonly awaitEvents: (query?: AwaitQuery, options?: InProject) => Promise<NewEvents>
  /**
   * Events as they are recorded, by any process over the same database, without end. Iterating fails if the server ends; go on
   * with the cursor of the last event.
   */
  readonly followEvents: (query?: FollowQuery, options?: InProject) => AsyncIterable<FollowedEvent>
  /** The messages of a session, each once. */
  readonly listSessionMessages: (
    session: string,
    query?: SessionMessageQuery,
    options?: InProject
  ) => Promise<Page<"messages", RecordedSessionMessage>>
  /** The calls of a session, and what each carried of its messages. */
  readonly listSessionCalls: (
    session: string,
    query?: SessionCallQuery,
    options?: InProject
  ) => Promise<Page<"calls", RecordedSessionCall>>
  readonly search: (query: SearchQuery, options?: InProject) => Promise<FoundTexts>
  /**
   * The lines of an export, in pieces of UTF-8 that may end anywhere. Iterating fails if it cannot be completed: then its last line is
   * missing.
   */
  readonly export: (query?: ExportQuery, options?: InProject) => AsyncIterable<Uint8Array>
  /**
   * Takes the lines of an export, in pieces that may end anywhere. Ids and times are kept, and nothing that exists is changed. Each
   * line is answered; nothing is imported further than the answers are iterated.
   */
  readonly import: (
    lines: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
    options?: InProject
  ) => AsyncIterable<ImportAnswer>
  readonly getAgent: (agent: string, options?: InProject) => Promise<RecordedAgent>
  readonly listAgents: (query?: PageQuery, options?: InProject) => Promise<Page<"agents", RecordedAgent>>
  readonly getAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  readonly listAgentVersions: (
    agent: string,
    query?: PageQuery,
    options?: InProject
  ) => Promise<Page<"agent_versions", RecordedAgentVersion>>
  /** What a version ran with. Pages may have the same configuration, whose sums add up. */
  readonly listConfigurations: (
    agent: string,
    version: string,
    query?: PageQuery & { readonly after?: string | undefined; readonly before?: string | undefined },
    options?: InProject
  ) => Promise<Page<"configurations", RecordedConfiguration>>
  /** A second time changes nothing. */
  readonly deprecateAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  /** Create Person. */
  readonly createPerson: (person: NewPerson, options?: InProject) => Promise<RecordedPerson>
  /** Replaces the properties of a person. */
  readonly updatePerson: (personId: string, properties: object, options?: InProject) => Promise<RecordedPerson>
  /** Erases a session, or a person, with their events and what only those hold. */
  readonly eraseSession: (session: string, options?: InProject) => Promise<Erased>
  readonly erasePerson: (personId: string, options?: InProject) => Promise<Erased>
  readonly getPerson: (personId: string, options?: InProject) => Promise<RecordedPerson>
  readonly listPeople: (query?: PageQuery, options?: InProject) => Promise<Page<"people", RecordedPerson>>
  readonly getFingerprint: (fingerprintId: string, options?: InProject) => Promise<RecordedFingerprint>
  readonly listFingerprints: (
    query?: PageQuery,
    options?: InProject
  ) => Promise<Page<"fingerprints", RecordedFingerprint>>
  /** The project, what a call in process may do there, and what this recorder is. */
  readonly getMe: (options?: InProject) => Promise<RecordedMe>
}
