/**
 * The conformance suite of `Storage`: `StorageSuite.run("my storage", () => MyStorage.layer)` in a vitest file. The layer
 * must open an empty storage each time, once per case.
 */
import { Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { describe, it } from "vitest"
import * as AccountCases from "./storage/AccountCases.ts"
import * as AppendCases from "./storage/AppendCases.ts"
import * as CallTimeCases from "./storage/CallTimeCases.ts"
import type { Test } from "./storage/Cases.ts"
import * as DamageCases from "./storage/DamageCases.ts"
import * as ErasureCases from "./storage/ErasureCases.ts"
import * as EventCases from "./storage/EventCases.ts"
import * as FollowCases from "./storage/FollowCases.ts"
import * as InventoryCases from "./storage/InventoryCases.ts"
import * as KeyCases from "./storage/KeyCases.ts"
import * as ListCases from "./storage/ListCases.ts"
import * as PackCases from "./storage/PackCases.ts"
import * as ProcessCases from "./storage/ProcessCases.ts"
import * as ReindexCases from "./storage/ReindexCases.ts"
import * as ReleaseCases from "./storage/ReleaseCases.ts"
import * as ResourceCases from "./storage/ResourceCases.ts"
import * as RollupCases from "./storage/RollupCases.ts"
import * as RulesCases from "./storage/RulesCases.ts"
import * as SessionListCases from "./storage/SessionListCases.ts"
import * as StatementCases from "./storage/StatementCases.ts"
import * as StepCases from "./storage/StepCases.ts"
import * as SweepCases from "./storage/SweepCases.ts"
import * as WaitingCases from "./storage/WaitingCases.ts"
import * as WatermarkCases from "./storage/WatermarkCases.ts"

export * as Calls from "./check/Calls.ts"
export * as DamagedPack from "./check/DamagedPack.ts"
export * as Following from "./check/Following.ts"
export * as ManyEvents from "./check/ManyEvents.ts"
export * as ManyNames from "./check/ManyNames.ts"
export * as ManySessions from "./check/ManySessions.ts"
export * as NodeRows from "./check/NodeRows.ts"
export * as PlantedWords from "./check/PlantedWords.ts"
export * as Race from "./check/Race.ts"
export * as Settled from "./check/Settled.ts"
export * as Statements from "./check/Statements.ts"
export * as Steps from "./check/Steps.ts"
export * as StoreCheck from "./check/StoreCheck.ts"
export * as TableCheck from "./check/TableCheck.ts"
export * as Verifying from "./check/Verifying.ts"

export const run = (name: string, layer: () => Layer.Layer<Storage, unknown>) => {
  const test: Test = (title, body) =>
    void it(title, () => Effect.runPromise(Effect.flatMap(Storage, body).pipe(Effect.provide(layer()))))

  describe(`StorageSuite: ${name}`, () => {
    test("answers a ping", (storage) => storage.ping)
    ResourceCases.define(test)
    EventCases.define(test)
    ListCases.define(test)
    AppendCases.define(test)
    KeyCases.define(test)
    PackCases.define(test)
    StepCases.define(test)
    SweepCases.define(test)
    ReleaseCases.define(test)
    AccountCases.define(test)
    InventoryCases.define(test)
    ErasureCases.define(test)
    RollupCases.define(test)
    CallTimeCases.define(test)
    SessionListCases.define(test)
    DamageCases.define(test)
    ProcessCases.define(test)
    StatementCases.define(test)
    WatermarkCases.define(test)
    FollowCases.define(test)
    ReindexCases.define(test)
    RulesCases.define(test)
    WaitingCases.define(test)
  })
}
