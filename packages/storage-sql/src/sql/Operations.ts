/** What every operation of the storage has: a bound in time, measurements, and the database's errors translated. */
import type { Errors } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SqlError } from "effect/sql"
import type * as AtOnce from "../dialect/AtOnce.ts"
import { corruptionAsDamage, isFull, translate } from "./SqlErrors.ts"
import * as StorageMetrics from "./StorageMetrics.ts"

type Run<Args extends ReadonlyArray<unknown>, A, E> = (...args: Args) => Effect.Effect<A, E | SqlError.SqlError>

type AnyRun = Run<ReadonlyArray<never>, unknown, unknown> | Effect.Effect<unknown, unknown>

/** An effect whose errors of the database are translated. */
type TranslatedEffect<A, E> = Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable>

type Translated<Runs> = {
  readonly [Name in keyof Runs]: Runs[Name] extends (...args: infer Args) => Effect.Effect<infer A, infer E>
    ? (...args: Args) => TranslatedEffect<A, E>
    : Runs[Name] extends Effect.Effect<infer A, infer E>
      ? TranslatedEffect<A, E>
      : never
}

interface OperationsOptions {
  readonly connections: number
  readonly isDistributed: boolean
  readonly operationTimeoutMs: number | undefined
  /** Frees room on a full disk. */
  readonly makeRoom: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (options: OperationsOptions) {
  const { connections, isDistributed, makeRoom, operationTimeoutMs } = options
  const { timed, tracked } = yield* StorageMetrics.make(connections)
  const clock = yield* Clock.Clock
  const bounded = <A, E>(effect: Effect.Effect<A, E | SqlError.SqlError>) =>
    translate(tracked(effect), operationTimeoutMs, isDistributed)

  const operation = <Args extends ReadonlyArray<unknown>, A, E>(name: string, run: Run<Args, A, E>) => {
    const call = timed(name)
    return (...args: Args) => call(bounded(run(...args)))
  }

  /**
   * An operation whose transaction runs at once, in the thread of the caller. Undefined if it has changed nothing. If it throws, the
   * effect fails.
   */
  const operationAtOnce = <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    run: (...args: Args) => AtOnce.Committed<A> | undefined
  ) => {
    const call = timed(name)
    return (...args: Args): Effect.Effect<A, Errors.StorageUnavailable> | undefined => {
      const started = clock.monotonicTimeNanosUnsafe()
      try {
        const committed = run(...args)
        if (committed === undefined) return undefined
        if (committed.onDisk !== undefined) return call(bounded(Effect.as(committed.onDisk, committed.value)), started)
        call.count(started)
        return Effect.succeed(committed.value)
      } catch (error) {
        if (!SqlError.isSqlError(error)) throw error
        return call(bounded(Effect.fail(error)), started)
      }
    }
  }

  /** An operation without arguments. */
  const operationOf = <A, E>(name: string, effect: Effect.Effect<A, E | SqlError.SqlError>) =>
    timed(name)(bounded(effect))

  /** An operation that reads stored texts. */
  const reading = <Args extends ReadonlyArray<unknown>, A, E>(name: string, run: Run<Args, A, E>) =>
    operation(name, (...args: Args) => corruptionAsDamage(run(...args)))

  /** An operation that erases, and so can do on a full disk what nothing else can. */
  const erasing = <Args extends ReadonlyArray<unknown>, A, E>(name: string, run: Run<Args, A, E>) =>
    operation(name, (...args: Args) =>
      Effect.catchIf(run(...args), isFull, () => Effect.andThen(makeRoom, run(...args)))
    )

  /** All of these, each under its own name. */
  const operations = <Runs extends Readonly<Record<string, AnyRun>>>(runs: Runs): Translated<Runs> => {
    const named = Object.entries<AnyRun>(runs).map(([name, run]) => [
      name,
      Effect.isEffect(run) ? operationOf(name, run) : operation(name, run)
    ])
    return Object.fromEntries(named) as Translated<Runs>
  }

  return { operation, operationAtOnce, operationOf, operations, reading, erasing }
})

export type Operations = Effect.Success<ReturnType<typeof make>>
