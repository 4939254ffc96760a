/** What the server answers. */
import type { ListedEvent as AnsweredEvent, SessionMessage } from "@tachograph/client/api"

export type {
  AgentVersion,
  Configuration,
  Conversation,
  EventSummary,
  Failure,
  FailurePage,
  Me,
  MessagePart as Part,
  Person,
  PersonWithUsage,
  RegisteredFingerprint as Fingerprint,
  SearchedSession,
  SearchPage,
  SearchResult,
  Session,
  SessionCall as Call,
  Step,
  UsageGroup as UsageRow
} from "@tachograph/client/api"

/** An event of a list, or what stands where a damaged one would. */
export type ListedEvent = AnsweredEvent & { readonly is_damaged?: boolean }

export interface Message extends SessionMessage {
  /** Of who speaks, where a provider has it. */
  readonly name?: string
}
