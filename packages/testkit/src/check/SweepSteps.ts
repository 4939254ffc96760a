/** Single steps of a sweep, for cases that choose the changes of each step. */
import {
  PersonId,
  SessionId,
  type Storage,
  type SweepChanges,
  type SweepPacks,
  type SweepRequest
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import { appendEvent, eventId, maxPack, project, sharedPiece } from "../Samples.ts"

export type Service = Storage["Service"]

export const s1 = SessionId.make("s1")
export const p1 = PersonId.make("p1")
export const p2 = PersonId.make("p2")

export const names = (...texts: ReadonlyArray<string>) => texts.map((text) => sharedPiece(text).sha256)

export const eventIn = (
  n: number,
  session: string,
  shared: ReadonlyArray<string> = [],
  person: PersonId | null = null
) => {
  const event = appendEvent(eventId(n), { session: SessionId.make(session), person })
  return { ...event, pack: { ...event.pack, shared: shared.map(sharedPiece) } }
}

export const numberOf = (storage: Service, session: string) =>
  Effect.map(storage.getSession(project, SessionId.make(session)), (state) => state!.number)

/** The changes that a step makes. */
export interface Changes {
  readonly packs?: SweepChanges<unknown>["packs"]
  /** Ends the sweep, by default for all events that were erased so far. */
  readonly done?: { readonly owned: ReadonlyArray<Uint8Array>; readonly pendingSweep?: number }
}

export const sweep = (
  storage: Service,
  session: number,
  request: Partial<SweepRequest>,
  { done, packs = [] }: Changes = {}
) =>
  storage.sweepPacks(project, session, { to: maxPack, limit: 100, above: maxPack - 1, ...request }, (value) => ({
    packs,
    pieces: 0,
    done: done && { pendingSweep: value.pendingSweep, remaining: value.state.history + value.state.parts, ...done },
    value
  }))

export const shown = ({ added, isLast, packs }: SweepPacks) => ({
  packs: packs.map(({ isKept, number }) => (isKept ? number : -number)),
  added: added.map(({ isKept, number }) => (isKept ? number : -number)),
  isLast
})

export const removed = (number: number) => ({ number, bytes: undefined, formerNewBytes: 5, newBytes: 0 })
