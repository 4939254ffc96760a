export { KeyStorage } from "./keys/KeyStorage.ts"
export { ApiKeyCacheTtl, ApiKeys, isSignIn, isStaticKey, type Principal, staticKeyRule } from "./keys/ApiKeys.ts"
export { CallFacts, stopReasons, unpricedParts, unpricedReasons } from "./domain/CallFacts.ts"
export { Agent, AgentName } from "./domain/Agent.ts"
export { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
export { ApiKey, Scope } from "./domain/ApiKey.ts"
export { AuditEntry, CurrentActor, type StoredAudit } from "./domain/AuditEntry.ts"
export * as Audit from "./audit/Audit.ts"
export * as Errors from "./domain/Errors.ts"
export * as Lazy from "./Lazy.ts"
export { pause } from "./Pause.ts"
export { Api, type Event, EventId, EventReceipt, EventSummary, maxMetadataBytes, type Payload } from "./domain/Event.ts"
export { Fingerprint, FingerprintId, RegisteredFingerprint } from "./domain/Fingerprint.ts"
export { type Idempotency, IdempotencyKey, idempotencyKeyTtl } from "./domain/IdempotencyKey.ts"
export * as JsonText from "./domain/JsonText.ts"
export * as Moment from "./domain/Moment.ts"
export { Name } from "./domain/Name.ts"
export { Person, PersonId } from "./domain/Person.ts"
export { CurrentProject, defaultProject, ProjectId } from "./domain/Project.ts"
export { SessionId } from "./domain/Session.ts"
export { SessionSummary } from "./domain/SessionSummary.ts"
export { type Dimension, dimensions, UsageGroup } from "./domain/UsageGroup.ts"
export { ErasureReceipt } from "./domain/ErasureReceipt.ts"
export {
  type CountedSession,
  maxListed,
  type NumberAccount,
  type ProjectAccount,
  rankStepBytes,
  type SessionAccount,
  type UsageAccount,
  type UsageTotals
} from "./domain/StorageAccount.ts"
export { SpanId, TraceId } from "./domain/Trace.ts"
export { StorageUsage } from "./domain/StorageUsage.ts"
export * as Codes from "./domain/Codes.ts"
export * as TimeSpan from "./domain/TimeSpan.ts"
export * as Uuid from "./domain/Uuid.ts"
export * as CallTime from "./domain/CallTime.ts"
export * as SessionRank from "./domain/SessionRank.ts"
export * as EventTime from "./domain/EventTime.ts"
export { firstIdOf } from "./domain/EventTime.ts"
export type { EventFilterQuery, EventListQuery, Period } from "./read/EventPages.ts"
export { DeriveBeforeReads, DeriveInBackground, derive } from "./derive/Deriver.ts"
export * as GroupValues from "./rollup/GroupValues.ts"
export { LocalTime } from "./rollup/LocalTime.ts"
export * as RowChecksum from "./rollup/RowChecksum.ts"
export * as SessionOrder from "./rollup/SessionOrder.ts"
export * as SessionParts from "./rollup/SessionParts.ts"
export * as Peaks from "./rollup/Peaks.ts"
export { figureOf, type Rank, Ranking, valueOf } from "./rollup/Ranking.ts"
export * as SessionDigest from "./rollup/SessionDigest.ts"
export * as SessionFigures from "./rollup/SessionFigures.ts"
export { SessionGroups } from "./rollup/SessionSums.ts"
export * as UsageSort from "./rollup/UsageSort.ts"
export { type CallSort, callSorts, type Order, type Sort, sorts } from "./domain/Sort.ts"
export type { SessionFilter, SessionPlace, SessionQuery, SessionRanking, StoredSession } from "./rollup/SessionQuery.ts"
export type { Countable } from "./rollup/Countable.ts"
export { type FirstCall, Tally } from "./rollup/Tally.ts"
export * as TimeRanges from "./rollup/TimeRanges.ts"
export { type GroupKey, type GroupPage, UsageGroups } from "./rollup/UsageGroups.ts"
export type { UsagePage, UsageQuery } from "./rollup/UsageQuery.ts"
export type { FollowedEvent, FollowedEvents } from "./follow/Follower.ts"
export type { FollowPosition } from "./follow/FollowPosition.ts"
export * as EventJson from "./record/EventJson.ts"
export { InFlight, InFlightSet } from "./record/InFlight.ts"
export type { WrittenEvent } from "./record/CommitBatch.ts"
export { CollectGarbage } from "./read/LargeReads.ts"
export { CommitLimits, type CommitLimitsValue, defaultCommitLimits } from "./record/CommitLimits.ts"
export * as MemoryStorage from "./memory/MemoryStorage.ts"
export * as JsonWalk from "./payload/scan/JsonWalk.ts"
export * as JsonValue from "./payload/scan/JsonValue.ts"
export * as Steps from "./payload/scan/Steps.ts"
export * as PieceScanner from "./payload/scan/PieceScanner.ts"
export { compressPieces } from "./payload/CompressPieces.ts"
export type { StoredPack } from "./payload/format/Pack.ts"
export type { EventChecksums } from "./domain/EventChecksums.ts"
export {
  ofStepTexts as checksumOfStepTexts,
  ofSummary as checksumOfSummary,
  ofTexts as checksumOfTexts
} from "./storage/Checksum.ts"
export { Damage } from "./payload/format/Damage.ts"
export { free as freeMemory } from "./payload/format/Memory.ts"
export { lastWithinStep } from "./payload/Sweep.ts"
export * as PackRanges from "./payload/format/PackRanges.ts"
export * as Scan from "./payload/scan/Scan.ts"
export { checksumOf as sharedPieceChecksum, type SharedPiece } from "./payload/format/SharedPiece.ts"
export { type OwnPrices, Prices, type PriceSource } from "./facts/Prices.ts"
export * as ReadFacts from "./facts/ReadFacts.ts"
export { type FactRules, Rules } from "./facts/Rules.ts"
export type { Configuration, ConfigurationPage, ConfigurationQuery } from "./conversation/Configurations.ts"
export type { NumberedPage } from "./conversation/NumberedPage.ts"
export type { CallQuery, SessionCall } from "./conversation/SessionCalls.ts"
export type { MessagePage, MessageQuery, SessionMessage } from "./conversation/SessionMessages.ts"
export { titleOf } from "./conversation/Title.ts"
export type { NewEvent } from "./record/NewEvent.ts"
export type { NewStep, NewSteps } from "./record/NewSteps.ts"
export { type Operations, Recorder } from "./Recorder.ts"
export type { AuditListQuery } from "./read/AuditLog.ts"
export type { EventPage } from "./read/EventReads.ts"
export type { Step, StepPage } from "./read/StepReads.ts"
export type { ExportQuery } from "./export/Exporting.ts"
export { type Role, roles } from "./domain/Role.ts"
export type { TextQuery } from "./search/TextSearch.ts"
export type { PersonUsage } from "./usage/PeopleUsage.ts"
export type { SessionListQuery } from "./usage/UsageReads.ts"
export type { ExportItem, Reserve } from "./export/Exporter.ts"
export type { Imported, Importer } from "./export/Importer.ts"
export type { GivenId } from "./record/CommitBatch.ts"
export type { Resources } from "./Resources.ts"
export { AdmissionControl, type Permit } from "./record/AdmissionControl.ts"
export * as Retention from "./erase/Retention.ts"
export { UnfinishedErasure } from "./erase/UnfinishedErasure.ts"
export * as Bucket from "./sessions/Bucket.ts"
export { idempotencyKeyHash } from "./sessions/SessionKey.ts"
export { LruCache } from "./read/LruCache.ts"
export { SessionCacheBytes } from "./sessions/SessionCache.ts"
export { type StaleSession, StaleSessions } from "./sessions/StaleSessions.ts"
export * as ObservableMetrics from "./telemetry/ObservableMetrics.ts"
export * as WaitingMetrics from "./telemetry/WaitingMetrics.ts"
export { Storage, type StoragePort } from "./Storage.ts"
export { inModule, moduleOf, type StorageModule } from "./StorageModule.ts"
export type { Nodes } from "./storage/Nodes.ts"
export {
  type AppendSteps,
  StepConflict,
  type StepFilter,
  type StepKey,
  type StepPlace,
  type StoredStep
} from "./storage/Steps.ts"
export type { Result as StorageResult } from "./storage/Result.ts"
export {
  type AppendEvent,
  KeyConflict,
  type NewPack,
  SessionConflict,
  StaleIds,
  type SessionState,
  type TakenKey
} from "./storage/Appending.ts"
export type {
  Erasable,
  ErasableSteps,
  ErasedAtLast,
  ErasedEvents,
  SweepChanges,
  SweepPacks,
  SweepRequest
} from "./storage/Erasing.ts"
export type { DerivedCheck, DerivedPlace } from "./storage/Derived.ts"
export type { ListedPack, ListedShared, NextSession, PackPage, SessionEvent, TableCheck } from "./storage/Inventory.ts"
export type {
  AuditQuery,
  EventQuery,
  EventRank,
  EventRanking,
  FieldFilter,
  ListPage,
  ListQuery
} from "./storage/Lists.ts"
export {
  maxPageParts as maxWaitingPageParts,
  merge as mergeWaiting,
  type ReadPart,
  type Waiting,
  type WaitingGroup,
  type WaitingPart,
  type WaitingPlace
} from "./storage/Waiting.ts"
export type {
  EventPack,
  FactsChange,
  RulesInUse,
  RangedPack,
  SessionRange,
  StoredEvent,
  StoredShared,
  StoredFingerprint,
  StoredSummary
} from "./storage/Stored.ts"
export { type SearchPage, type SearchPlace, type SearchResult } from "./search/Search.ts"
export * as Throttle from "./Throttle.ts"
export * as Reindexer from "./reindex/Reindexer.ts"
export * as Verifier from "./verify/Verifier.ts"
export { showAdmission } from "./record/CommitMetrics.ts"
