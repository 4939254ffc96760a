import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AgentName } from "../src/domain/Agent.ts"
import type { NewEvent } from "../src/record/NewEvent.ts"
import * as ReadFacts from "../src/facts/ReadFacts.ts"
import { Fingerprint, FingerprintId } from "../src/domain/Fingerprint.ts"
import * as JsonText from "../src/domain/JsonText.ts"
import { CurrentProject, ProjectId } from "../src/domain/Project.ts"
import { SessionId } from "../src/domain/Session.ts"
import * as PieceScanner from "../src/payload/scan/PieceScanner.ts"
import * as MemoryStorage from "../src/memory/MemoryStorage.ts"
import { DeriveInBackground } from "../src/derive/Deriver.ts"
import { Recorder } from "../src/Recorder.ts"
import { Storage } from "../src/Storage.ts"

const runtime = Recorder.layer.pipe(
  Layer.provideMerge(MemoryStorage.layer),
  // What runs every few seconds would run for all the years that a test sets the clock ahead by.
  Layer.provide(Layer.succeed(DeriveInBackground, false))
)

const fingerprint = new Fingerprint({
  language: "typescript",
  languageVersion: "7",
  system: "linux",
  provider1SdkVersion: null,
  provider2SdkVersion: null,
  provider3SdkVersion: null,
  serviceSdkVersion: null,
  allPackages: null,
  gitRepositoryUrl: null,
  gitBranch: null,
  gitCommitHash: null,
  gitCommitDate: null
})

const event = (fingerprintId: FingerprintId): NewEvent => ({
  api: "aisdk",
  fingerprintId,
  session: SessionId.make("s"),
  payload: PieceScanner.ofTexts(`{ "a": 1.0 }`, "{}"),
  facts: ReadFacts.read("aisdk", {}, {})
})

describe("Recorder", () => {
  it.effect("records with the server's clock and reads back what was sent", () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      yield* TestClock.setTime(1_767_323_045_678)
      const id = yield* recorder.createFingerprint(fingerprint)
      const receipt = yield* recorder.createEvent(event(id))
      assert.strictEqual(DateTime.formatIso(receipt.receivedAt), "2026-01-02T03:04:05.678Z")
      const read = yield* recorder.getEvent(receipt.id)
      assert.strictEqual(Buffer.from(read.payload.inputs).toString(), `{ "a": 1.0 }`)
      assert.strictEqual(Buffer.from(read.payload.output).toString(), "{}")
      assert.deepStrictEqual([read.agent, read.agentVersion, read.person], ["default", "default", null])
    }).pipe(Effect.provide(runtime))
  )

  it.effect("checks the session before the fingerprint", () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const unknown = FingerprintId.make("11111111-1111-4111-8111-111111111111")
      const first = yield* Effect.flip(recorder.createEvent({ ...event(unknown), session: SessionId.make("") }))
      assert.strictEqual(first._tag, "session-id-empty")
      const second = yield* Effect.flip(recorder.createEvent(event(unknown)))
      assert.strictEqual(second._tag, "fingerprint-not-found")
    }).pipe(Effect.provide(runtime))
  )

  it.effect("finds a fingerprint that another process registered after a failed look-up", () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const storage = yield* Storage
      const id = FingerprintId.make("11111111-1111-4111-8111-111111111111")
      yield* Effect.flip(recorder.createEvent(event(id)))
      const project = yield* CurrentProject
      yield* storage.putFingerprint(project, { id, fields: JsonText.unsafe("{}"), createdAt: yield* DateTime.now })
      yield* recorder.createEvent(event(id))
    }).pipe(Effect.provide(runtime))
  )

  it.effect("uses the current project, `default` unless it is set", () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const bot = AgentName.make("bot")
      yield* recorder.createAgent(bot, "")
      const elsewhere = recorder.getAgent(bot).pipe(Effect.provideService(CurrentProject, ProjectId.make("other")))
      assert.strictEqual((yield* Effect.flip(elsewhere))._tag, "agent-not-found")
      assert.strictEqual((yield* recorder.getAgent(bot)).number, 1)
    }).pipe(Effect.provide(runtime))
  )

  it.effect("returns a next page only if there is one", () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const id = yield* recorder.createFingerprint(fingerprint)
      for (let n = 0; n < 4; n++) yield* recorder.createEvent(event(id))
      const first = yield* recorder.listEvents({ order: "asc", limit: 2 })
      assert.strictEqual(first.next, first.events[1]?.id)
      const second = yield* recorder.listEvents({ order: "asc", limit: 2, after: first.next })
      assert.strictEqual(second.events.length, 2)
      assert.isUndefined(second.next)
    }).pipe(Effect.provide(runtime))
  )
})
