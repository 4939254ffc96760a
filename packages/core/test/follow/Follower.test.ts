import { Effect, Fiber, Layer } from "effect"
import { expect, it } from "vitest"
import { CurrentProject, MemoryStorage, ProjectId, Recorder } from "../../src/index.ts"

it("lets half of those who wait be of one project, and no more than all of them", () =>
  Effect.gen(function* () {
    const recorder = yield* Recorder
    const from = yield* recorder.startFollowing({})
    const wait = (project: string, forMs: number) =>
      Effect.provideService(recorder.awaitEvents({}, from, forMs), CurrentProject, ProjectId.make(project))
    const waiting = (project: string, count: number) =>
      Effect.forEach(Array(count).fill(project), (name) =>
        Effect.forkChild(wait(name, 600_000), { startImmediately: true })
      )
    const first = yield* waiting("a", 256)
    expect((yield* Effect.flip(wait("a", 0)))._tag).toBe("overloaded")
    const others = yield* waiting("b", 255)
    expect((yield* wait("b", 0)).events).toEqual([])
    others.push(...(yield* waiting("b", 1)))
    expect((yield* Effect.flip(wait("c", 0)))._tag).toBe("overloaded")
    yield* Fiber.interrupt(first[0]!)
    expect((yield* wait("a", 0)).events).toEqual([])
    yield* Fiber.interruptAll([...first, ...others])
  }).pipe(Effect.provide(Layer.provideMerge(Recorder.layer, MemoryStorage.layer)), Effect.runPromise))
