/** What the API answers. Types only: the schemas of `@tachograph/api` from which they come would be more than the pages. */
import type {
  AgentVersions,
  Events,
  Fingerprints,
  Me as MeGroup,
  People,
  Search,
  Sessions,
  StorageUse,
  Usage
} from "@tachograph/api"

export type Me = (typeof MeGroup.MeOnWire)["Encoded"]
export type EventSummary = (typeof Events.EventSummaryOnWire)["Encoded"]

/** An event of a list, or what stands where a damaged one would. */
export type ListedEvent = EventSummary & { readonly is_damaged?: boolean }

export type Session = (typeof Sessions.SessionOnWire)["Encoded"]

export interface SessionPage {
  readonly sessions: ReadonlyArray<Session>
  readonly next_cursor: string | null
}

/** A part of a message: `type` says which. */
export interface Part {
  readonly type: string
  readonly [key: string]: unknown
}

export interface Message {
  /** From 1, in the order in which messages first appeared in the session. */
  readonly number: number
  /** The event that first held it. */
  readonly event_id: string
  readonly at: string
  readonly from: "input" | "output"
  readonly role: string
  readonly parts: ReadonlyArray<Part>
  readonly name?: string
  /** It cannot be read, and has no parts. */
  readonly is_damaged?: true
}

export interface MessagePage {
  readonly messages: ReadonlyArray<Message>
  readonly next_cursor: string | null
}

/** A call, and how the conversation grew with it. */
export type Call = (typeof Sessions.SessionCallOnWire)["Encoded"]

export interface CallPage {
  readonly calls: ReadonlyArray<Call>
  readonly next_cursor: string | null
}

/** A call in one form for all providers. */
export interface Conversation {
  readonly event_id: string
  /** Those that stand apart from the messages. */
  readonly instructions: ReadonlyArray<Part>
  /** How many messages at the beginning of the input are instructions too. */
  readonly leading_instructions: number
  readonly tools: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters: Readonly<Record<string, unknown>>
  readonly input: ReadonlyArray<Omit<Message, "number" | "event_id" | "at" | "from">>
  readonly output: ReadonlyArray<Omit<Message, "number" | "event_id" | "at" | "from">>
}

export type SearchResult = (typeof Search.SearchResultOnWire)["Encoded"]
export type AgentVersion = (typeof AgentVersions.AgentVersionOnWire)["Encoded"]
export type Configuration = (typeof AgentVersions.ConfigurationOnWire)["Encoded"]
export type UsageRow = (typeof Usage.UsageGroupOnWire)["Encoded"]
export type Fingerprint = (typeof Fingerprints.FingerprintOnWire)["Encoded"]
export type Person = (typeof People.PersonOnWire)["Encoded"]
export type StorageUsage = (typeof StorageUse.StorageUsageOnWire)["Encoded"]
