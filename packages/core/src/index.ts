export { ApiKeys, isStaticKey, type Principal, staticKeyRule } from "./ApiKeys.ts"
export { Agent, AgentName } from "./domain/Agent.ts"
export { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
export { ApiKey, Scope } from "./domain/ApiKey.ts"
export * as Errors from "./domain/Errors.ts"
export { Api, type Event, EventId, EventReceipt, EventSummary, type ModelFacts, type Payload } from "./domain/Event.ts"
export { Fingerprint, FingerprintId } from "./domain/Fingerprint.ts"
export { type Idempotency, IdempotencyKey, keysKeptFor } from "./domain/IdempotencyKey.ts"
export * as JsonText from "./domain/JsonText.ts"
export { Name } from "./domain/Name.ts"
export { Person, PersonId } from "./domain/Person.ts"
export { CurrentProject, defaultProject, ProjectId } from "./domain/Project.ts"
export { SessionId } from "./domain/Session.ts"
export { Receipt, StorageUsage } from "./domain/StorageUsage.ts"
export * as Uuid from "./domain/Uuid.ts"
export { firstIdOf } from "./EventIds.ts"
export * as EventJson from "./EventJson.ts"
export type { WrittenEvent } from "./EventBatch.ts"
export { defaultWriterLimits, WriterLimits } from "./EventWriter.ts"
export * as MemoryStorage from "./MemoryStorage.ts"
export * as ModelFactsReader from "./payload/ModelFacts.ts"
export * as Marks from "./payload/Marks.ts"
export type { StoredPack } from "./payload/Pack.ts"
export * as PackRanges from "./payload/PackRanges.ts"
export * as Scan from "./payload/Scan.ts"
export type { SharedPiece } from "./payload/SharedPiece.ts"
export type { NewEvent } from "./NewEvent.ts"
export { type EventPage, Recorder } from "./Recorder.ts"
export type { Place, Room } from "./Room.ts"
export * as Retention from "./Retention.ts"
export { SessionMemoryBytes } from "./SessionMemory.ts"
export * as ShownMetrics from "./ShownMetrics.ts"
export {
  type AppendEvent,
  type Erasable,
  type ErasedAtLast,
  type EventQuery,
  KeysTaken,
  type NewPack,
  SessionMoved,
  type SessionState,
  Storage,
  type StoredEvent,
  type SweepChanges,
  type SweepPacks,
  type SweepRequest,
  type TakenKey
} from "./Storage.ts"
