/** A storage that fails at a chosen step. */
import { Errors, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"

type Service = Storage["Service"]

/** The steps of an erasure. */
const steps = ["eraseEvents", "listPendingSweep", "deleteEmptySession", "sweepPacks", "deletePerson"] as const

/** Fails at one step of an erasure, counted from 0. With `isDone`, the step takes effect before it fails. */
export const failingAt = (storage: Service, step: number, isDone: boolean): Service => {
  let remaining = step
  const failure = new Errors.StorageUnavailable({ cause: new Error("injected failure") })
  const failing = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      if (remaining-- !== 0) return effect
      return isDone ? Effect.andThen(effect, Effect.fail(failure)) : Effect.fail(failure)
    })
  const wrapped = Object.fromEntries(
    steps.map((name) => [
      name,
      (...args: ReadonlyArray<never>) =>
        failing((storage[name] as (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>)(...args))
    ])
  )
  return { ...storage, ...wrapped } as Service
}
