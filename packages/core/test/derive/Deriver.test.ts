import { it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import * as Deriver from "../../src/derive/Deriver.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { GroupCommit } from "../../src/record/GroupCommit.ts"
import { Storage } from "../../src/Storage.ts"

const stepMs = 20

/** How long the pauses between steps of 500 events are (ms), while there is always more to derive. */
const pausesWhile = (isRecording: boolean, steps: number) =>
  Effect.gen(function* () {
    const startsMs: Array<number> = []
    const busy = Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => ({
        ...storage,
        listProjects: Effect.succeed([defaultProject]),
        deriveEvents: () =>
          Effect.gen(function* () {
            startsMs.push(yield* Clock.currentTimeMillis)
            yield* Effect.sleep(stepMs)
            return 500
          })
      }))
    ).pipe(Layer.provide(MemoryStorage.layer))
    const committing = Layer.effect(
      GroupCommit,
      Effect.map(GroupCommit, (own) => ({ ...own, isRecording: () => isRecording }))
    ).pipe(Layer.provide(GroupCommit.layer))
    yield* Layer.build(Deriver.layer.pipe(Layer.provide(committing), Layer.provide(busy)))
    // Its own timer does not keep a process running, and is not the clock's.
    while (startsMs.length === 0) yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
    while (startsMs.length <= steps) yield* TestClock.adjust(5)
    return startsMs.slice(1).map((startMs, index) => startMs - startsMs[index]! - stepMs)
  })

describe("Deriver", () => {
  it.effect("works for half of the time while nothing is recorded", () =>
    Effect.gen(function* () {
      expect(new Set(yield* pausesWhile(false, 5))).toEqual(new Set([stepMs]))
    })
  )

  it.effect("works for a fifth of the time while events are recorded, until it is behind by 10,000", () =>
    Effect.gen(function* () {
      const pauses = yield* pausesWhile(true, 25)
      expect(new Set(pauses.slice(0, 20))).toEqual(new Set([4 * stepMs]))
      expect(new Set(pauses.slice(20))).toEqual(new Set([stepMs]))
    })
  )
})
