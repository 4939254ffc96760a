/** Checks what the sessions of a project share: the shared pieces, and the counters of the project. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { UsageTotals } from "../domain/StorageAccount.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as EventReader from "../read/EventReader.ts"
import type { ListedShared } from "../storage/Inventory.ts"
import { attempt, type ProjectVerification } from "./Verification.ts"
import { nameOf } from "./SessionCounters.ts"

/** Stored bytes of one page. */
const pageBytes = 2 * 1024 * 1024

export const check = Effect.fnUntraced(function* (
  run: ProjectVerification
): Effect.fn.Return<void, StorageUnavailable> {
  yield* attempt(run, checkCounters(run))
  let after: Uint8Array | undefined
  for (;;) {
    const step = Effect.tap(run.storage.listShared(run.project, after, pageBytes), (page) =>
      Effect.forEach(page, (piece) => checkPiece(run, piece), { discard: true })
    )
    const page = yield* attempt(run, run.throttle(step))
    const last = page?.at(-1)?.sha256
    if (last === undefined || (after !== undefined && Buffer.compare(last, after) <= 0)) return
    after = last
  }
})

const checkPiece = Effect.fnUntraced(function* (
  run: ProjectVerification,
  { bytes, checksum, isOwned, sha256, size }: ListedShared
) {
  run.counts.sharedPieces++
  const name = Buffer.from(sha256).toString("hex")
  const damage =
    damageOf(sha256, bytes, size) ??
    (SharedPiece.checksumOf(bytes) === checksum ? undefined : "Its checksum is of other bytes")
  if (damage !== undefined) {
    yield* run.report({ problem: "shared-piece-damaged", reason: `Shared piece ${name}: ${damage}` })
  }
  if (!isOwned) {
    yield* run.report({ problem: "shared-piece-without-owner", reason: `Shared piece ${name} belongs to no session` })
  }
  yield* Effect.yieldNow
})

const damageOf = (sha256: Uint8Array, bytes: Uint8Array, size: number): string | undefined => {
  try {
    const text = SharedPiece.textOf(bytes, EventReader.maxTextBytes)
    if (!SharedPiece.isNamed(sha256, text)) return "Its text has another hash"
    return text.length === size ? undefined : `Its size is ${size} instead of ${text.length}`
  } catch (error) {
    return Damage.of(error).message
  }
}

const totals: ReadonlyArray<readonly [of: keyof UsageTotals, name: string]> = [
  ["events", "events"],
  ["sentBytes", "sent bytes"],
  ["newBytes", "new bytes"],
  ["storedBytes", "stored bytes"]
]

const checkCounters = Effect.fnUntraced(function* (run: ProjectVerification) {
  const { agents, numbers, shared } = yield* run.throttle(run.storage.projectAccount(run.project))
  const wrong = (counter: string, kept: number, actual: number) =>
    run.report({ problem: "counter-wrong", reason: `The counter of ${counter} is ${kept} instead of ${actual}` })
  for (const [of, name] of totals) {
    const { counted, kept } = shared
    const counter = of === "events" ? "shared pieces" : `${name} of shared pieces`
    if (kept[of] !== counted[of]) yield* wrong(counter, kept[of], counted[of])
    for (const each of agents) {
      const { [of]: actual } = each.counted
      if (each.kept[of] !== actual) yield* wrong(`${name} of ${nameOf(each)}`, each.kept[of], actual)
    }
  }
  for (const { agent, highest, kept, of } of numbers) {
    // People and sessions are deleted, agents and versions never.
    const isRight = of === "people" || of === "sessions" ? kept >= highest : kept === highest
    const whose = agent === undefined ? of : `${of} of agent ${JSON.stringify(agent)}`
    if (!isRight) yield* wrong(whose, kept, highest)
  }
})
