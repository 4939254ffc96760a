/** Compares the counters of a session with its rows and packs. */
import {
  maxListed,
  rankStepBytes,
  type CountedSession,
  type SessionAccount,
  type UsageAccount
} from "../domain/StorageAccount.ts"
import { keyOf } from "../payload/Join.ts"
import type { Finding, Problem } from "./Finding.ts"
import type { SessionPacks } from "./SessionPacks.ts"

/** Only what the session's rows say is compared if `packs` are not of the account's state. */
export const compare = function* (
  session: number,
  account: SessionAccount,
  packs: SessionPacks,
  isSettled: boolean
): Generator<Finding, void, void> {
  const finding = (problem: Problem, reason: string, more: Partial<Finding> = {}): Finding => ({
    problem,
    session: account.session?.id,
    ...more,
    reason
  })
  for (const { number, reason } of packs.damaged) yield finding("pack-damaged", `Pack ${number}: ${reason}`)
  for (const number of packs.withErasedTexts) {
    yield finding("texts-not-erased", `Pack ${number} has texts of an event that was erased`)
  }
  for (const number of account.packsWithoutEvent) yield finding("pack-without-event", `Pack ${number} has no event`)
  for (const eventId of account.eventsWithoutPack) {
    yield finding("event-without-pack", "Its pack is missing, or marked as erased", { eventId })
  }
  for (const number of account.stepsWithoutPack) {
    yield finding("steps-without-pack", `Pack ${number}, which steps name, is missing or not marked as one of steps`)
  }
  const more = `There may be more: only the first ${maxListed} are listed`
  if (account.packsWithoutEvent.length === maxListed) yield finding("pack-without-event", more)
  if (account.eventsWithoutPack.length === maxListed) yield finding("event-without-pack", more)
  if (account.stepsWithoutPack.length === maxListed) yield finding("steps-without-pack", more)
  const counted = account.session
  if (counted === undefined) {
    const rows = rowsOf(account)
    if (rows !== "") yield finding("session-missing", `Session number ${session} does not exist, but has ${rows}`)
    return
  }
  const events = account.usage.reduce((sum, each) => sum + each.counted.events, 0)
  const isPending = counted.pendingSweep > 0
  if (events === 0 && !isPending) yield finding("session-empty", "It has no events, but was not deleted")
  // A session without events is deleted in steps, the last of which deletes its counters.
  if (events === 0 && isPending) return

  const wrong = (counter: string, kept: number, actual: number) =>
    finding("counter-wrong", `The counter of ${counter} is ${kept} instead of ${actual}`)
  const hasAllPacks = isSettled && packs.damaged.length === 0 && account.eventsWithoutPack.length === 0
  for (const usage of account.usage) {
    for (const [counter, kept, actual] of usageOf(usage, hasAllPacks ? packs : undefined)) {
      if (kept !== actual) yield wrong(`${counter} of ${nameOf(usage)}`, kept, actual)
    }
    if (usage.agentName === undefined) {
      yield finding("counter-wrong", `Rows name agent number ${usage.agent}, which does not exist`)
    }
  }
  const stored = account.usage.reduce((sum, { kept }) => sum + kept.storedBytes, 0)
  if (counted.storedBytes !== stored) yield wrong("stored bytes", counted.storedBytes, stored)
  const { rankedBytes } = counted
  if (stored < rankedBytes || stored > rankedBytes + Math.trunc(rankedBytes / 8) + rankStepBytes) {
    yield wrong("ranked bytes", rankedBytes, stored)
  }
  const neverErased = counted.generation === 0
  if (neverErased ? counted.packs !== account.lastPack : counted.packs < account.lastPack) {
    yield wrong("packs", counted.packs, account.lastPack)
  }
  if (hasAllPacks) {
    for (const [counter, kept, actual] of piecesOf(counted, packs)) yield wrong(counter, kept, actual)
  }
  yield* sharedOf(account, packs, { isSettled, mayOwnMore: isPending || !hasAllPacks }, finding)
}

const rowsOf = ({ owned, steps, usage }: SessionAccount): string => {
  const sum = (counter: "events" | "packs") => usage.reduce((total, { counted }) => total + counted[counter], 0)
  const kept = usage.filter(({ kept }) => Object.values(kept).some((value) => value !== 0)).length
  const rows = { events: sum("events"), steps, packs: sum("packs"), "shared pieces": owned.length, counters: kept }
  return Object.entries(rows)
    .flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
    .join(", ")
}

export const nameOf = ({ agent, agentName }: Pick<UsageAccount, "agent" | "agentName">): string =>
  agentName === undefined ? `agent number ${agent}` : `agent ${JSON.stringify(agentName)}`

const usageOf = function* (
  { agent, counted, kept }: UsageAccount,
  packs: SessionPacks | undefined
): Generator<readonly [counter: string, kept: number, actual: number]> {
  yield ["events", kept.events, counted.events]
  yield ["sent bytes", kept.sentBytes, counted.sentBytes]
  yield ["stored bytes", kept.storedBytes, counted.storedBytes]
  if (packs !== undefined) yield ["new bytes", kept.newBytes, packs.newBytes.get(agent) ?? 0]
}

/** The counters of pieces that are wrong. */
const piecesOf = function* (
  counted: CountedSession,
  { last, pieces, remaining }: SessionPacks
): Generator<readonly [counter: string, kept: number, actual: number]> {
  if (last === undefined) return
  // The packs after the last one are deleted, and their pieces with them.
  const isLast = last.number === counted.packs
  for (const kind of ["history", "parts"] as const) {
    const isRight = isLast ? counted[kind] === last[kind] : counted[kind] >= last[kind]
    if (!isRight) yield [kind === "history" ? "history pieces" : "parts", counted[kind], last[kind]]
  }
  const numbered = counted.history + counted.parts
  const erased = numbered - remaining
  // The last step of a sweep counts what was in packs that were deleted because they were damaged.
  const isRight =
    counted.pendingSweep > 0
      ? counted.erasedPieces >= pieces - remaining && counted.erasedPieces <= erased
      : counted.erasedPieces === erased
  if (!isRight) yield ["erased pieces", counted.erasedPieces, erased]
}

const sharedOf = function* (
  account: SessionAccount,
  packs: SessionPacks,
  { isSettled, mayOwnMore }: { readonly isSettled: boolean; readonly mayOwnMore: boolean },
  finding: (problem: Problem, reason: string) => Finding
): Generator<Finding, void, void> {
  const owned = new Set(account.owned.map(({ sha256 }) => keyOf(sha256)))
  for (const { exists, sha256 } of account.owned) {
    if (!exists) yield finding("shared-piece-missing", `It owns shared piece ${hexOf(sha256)}, which is missing`)
    if (isSettled && !mayOwnMore && !packs.shared.has(keyOf(sha256))) {
      yield finding("shared-piece-unused", `It owns shared piece ${hexOf(sha256)}, but refers to it nowhere`)
    }
  }
  if (!isSettled) return
  for (const [key, sha256] of packs.shared) {
    if (owned.has(key)) continue
    yield finding("shared-piece-not-owned", `It refers to shared piece ${hexOf(sha256)}, but does not own it`)
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")
