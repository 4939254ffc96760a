/** The operations of Tachograph, independent of any transport: each is in a folder, and all are one service here. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SessionReads from "./conversation/SessionReads.ts"
import { SessionTitles } from "./conversation/SessionTitles.ts"
import * as Deriver from "./derive/Deriver.ts"
import { CurrentProject } from "./domain/Project.ts"
import * as AuditedErasures from "./erase/AuditedErasures.ts"
import { Eraser } from "./erase/Eraser.ts"
import * as Exporting from "./export/Exporting.ts"
import * as Importer from "./export/Importer.ts"
import * as Prices from "./facts/Prices.ts"
import * as Pricing from "./facts/Pricing.ts"
import type * as ReadFacts from "./facts/ReadFacts.ts"
import * as Rules from "./facts/Rules.ts"
import * as Following from "./follow/Following.ts"
import * as AuditLog from "./read/AuditLog.ts"
import * as DamageLog from "./read/DamageLog.ts"
import * as EventReads from "./read/EventReads.ts"
import * as Failures from "./read/Failures.ts"
import { GroupCommit } from "./record/GroupCommit.ts"
import * as Recording from "./record/Recording.ts"
import * as Resources from "./Resources.ts"
import * as TextSearch from "./search/TextSearch.ts"
import { StaleSessions } from "./sessions/StaleSessions.ts"
import { Storage } from "./Storage.ts"
import type { Result } from "./storage/Result.ts"
import type { RulesInUse } from "./storage/Stored.ts"
import * as UsageReads from "./usage/UsageReads.ts"

/** Every operation works in the `CurrentProject`. */
export interface Operations
  extends
    Recording.Recording,
    EventReads.EventReads,
    SessionReads.SessionReads,
    UsageReads.UsageReads,
    Failures.Failures,
    TextSearch.TextSearch,
    Following.Following,
    Exporting.Exporting,
    Importer.Importer,
    Resources.Resources,
    AuditedErasures.AuditedErasures,
    AuditLog.AuditLog {
  /** The days of the price lists by which calls get their costs. */
  readonly prices: string
  /** By which facts and costs of new events are computed. */
  readonly rules: string
  /** Reads the facts of a new event by them. */
  readonly readFacts: typeof ReadFacts.read
  /** How many events are by which rules. */
  readonly rulesInUse: Result<ReadonlyArray<RulesInUse>>
}

export class Recorder extends Context.Service<Recorder, Operations>()("tachograph/core/Recorder") {
  static readonly layerNoDeps: Layer.Layer<Recorder, never, Storage | GroupCommit | Eraser | StaleSessions> =
    Layer.effect(
      Recorder,
      Effect.suspend(() => make)
    )

  static readonly layer: Layer.Layer<Recorder, never, Storage> = Layer.merge(this.layerNoDeps, Deriver.layer).pipe(
    Layer.provide([GroupCommit.layer, Eraser.layer, StaleSessions.layer])
  )
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const pricing = yield* Pricing.make
  const { read: readFacts } = yield* Rules.Rules
  const logDamage = DamageLog.make()
  const events = yield* EventReads.make(storage, logDamage)
  const resources = Resources.make(storage)
  return Recorder.of({
    prices: yield* Prices.date,
    rules: yield* Rules.current,
    readFacts,
    rulesInUse: Effect.flatMap(CurrentProject, storage.rulesInUse),
    ...(yield* Recording.make(storage, yield* GroupCommit, pricing)),
    ...events,
    ...(yield* SessionReads.make({ storage, onDamage: logDamage, pricing })),
    ...(yield* UsageReads.make(storage, new SessionTitles(storage, logDamage), logDamage)),
    ...Failures.make(storage, logDamage),
    ...TextSearch.make(storage, logDamage),
    ...Following.make(storage, logDamage),
    ...Exporting.make(storage, resources, events),
    ...Importer.make(storage),
    ...resources,
    ...AuditedErasures.make(storage, yield* Eraser),
    ...AuditLog.make(storage)
  })
})
