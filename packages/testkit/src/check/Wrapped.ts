/** Storages in which something goes wrong. */
import { Errors, type Storage } from "@tachograph/core"
import { Effect } from "effect"

type Service = Storage["Service"]

/** The steps of an erasure. */
const steps = ["eraseEvents", "listPendingSweep", "sweepPacks", "deletePerson"] as const

/** Fails at one step of an erasure, counted from 0: before anything is done, or when it is and the answer is lost. */
export const failingAt = (storage: Service, step: number, isDone: boolean): Service => {
  let left = step
  const failure = new Errors.StorageUnavailable({ cause: new Error("as the test wants it") })
  const failing = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      if (left-- !== 0) return effect
      return isDone ? Effect.andThen(effect, Effect.fail(failure)) : Effect.fail(failure)
    })
  const wrapped = Object.fromEntries(
    steps.map((name) => [
      name,
      (...args: ReadonlyArray<never>) =>
        failing((storage[name] as (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>)(...args))
    ])
  )
  return { ...storage, ...wrapped, scrub: failing(storage.scrub) } as Service
}
