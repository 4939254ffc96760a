/** `damage`: flips one bit of a store in each round, and looks at what reading, recording, verifying and erasing do. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { SqlClient } from "effect/sql"
import * as Random from "../harness/Random.ts"
import * as DamagePlan from "./DamagePlan.ts"
import * as DamageRound from "./DamageRound.ts"
import type { DamageStore } from "./DamageStore.ts"
import * as Flip from "./Flip.ts"
import * as Leftovers from "./Leftovers.ts"
import { Tally } from "./Tally.ts"

export interface Options {
  readonly seed: number
  /** The first round, from 1. */
  readonly from: number
  readonly rounds: number
  /** What has its bits flipped: `rows`, a column as `TABLE.COLUMN`, or the closed `file`. */
  readonly where: string
  /** Called before each round. */
  readonly progress: (round: number, tally: Tally) => void
}

/** The counts that the table has. */
export const counted = [
  "rounds",
  "reads",
  "read: as sent",
  "read: event-damaged",
  "read: event-not-found",
  "recorded",
  "verified",
  "erased"
]

/** Rounds for which the same store is restored. */
const roundsPerStore = 25

interface Filled {
  readonly plan: DamagePlan.Plan
  readonly known: ReadonlyArray<DamagePlan.Known>
  readonly stored: Leftovers.StoredPacks
}

const provide = <A, E, R>(effect: Effect.Effect<A, E, R>, layer: Layer.Layer<R, unknown>) =>
  // Each damaged event is logged.
  Effect.runPromise(Effect.provide(effect, Layer.merge(layer, Logger.layer([]))))

const fill = async (store: DamageStore, seed: number, number: number): Promise<Filled> => {
  await store.clear()
  const plan = DamagePlan.planOf(seed, number)
  const known = await provide(DamagePlan.fill(plan), store.storage)
  const stored = await provide(Leftovers.storedPacks, store.client)
  await store.keep()
  return { plan, known, stored }
}

const runRound = async (
  store: DamageStore,
  { known, plan, stored }: Filled,
  number: number,
  options: Options,
  tally: Tally
) => {
  const random = Random.of(options.seed, "round", number)
  await store.restore()
  const flip =
    options.where === "file"
      ? Flip.inFile(store.file!, random)
      : await provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Flip.inRow(sql, random, options.where === "rows" ? undefined : options.where)
          ),
          store.client
        )
  const wrong = (text: string) => tally.addWrong(number, `${text}, after a flip in ${flip.text}`)
  const count = tally.count.bind(tally)
  tally.count("rounds")
  const round = DamageRound.make({ plan, known, flip, random, count, wrong })
  const exit = await provide(Effect.exit(Effect.provide(round, store.storage)), Layer.empty)
  if (Exit.isFailure(exit)) {
    const error = Cause.squash(exit.cause) as { readonly _tag?: string; readonly stack?: string }
    const isRefusal = flip.kind === "file" && !Cause.hasDies(exit.cause) && error._tag !== undefined
    if (isRefusal) count(`the store is refused: ${error._tag}`)
    else wrong(`crash: ${error.stack ?? String(error)}`)
    return
  }
  const { erased, gone } = exit.value
  const looked = await provide(
    Effect.exit(Effect.provide(Leftovers.find(stored, erased, gone, store.file), store.client)),
    Layer.empty
  )
  const left = Exit.isSuccess(looked) ? looked.value : ["the database fails"]
  for (const each of left) {
    if (DamageRound.isLink(flip))
      count(`after an erasure, ${each.replace(/ (person|session)-.*/, "")}: flip in ${DamageRound.placeOf(flip)}`)
    else wrong(`after an erasure, ${each}`)
  }
}

export const run = async (store: DamageStore, options: Options): Promise<Tally> => {
  const tally = new Tally()
  let filled: Filled | undefined
  let storeNumber = -1
  for (let number = options.from; number < options.from + options.rounds; number++) {
    options.progress(number, tally)
    const wanted = Math.floor((number - 1) / roundsPerStore)
    if (filled === undefined || wanted !== storeNumber) filled = await fill(store, options.seed, (storeNumber = wanted))
    await runRound(store, filled, number, options, tally)
  }
  return tally
}
