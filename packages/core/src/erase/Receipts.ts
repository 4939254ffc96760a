/** What erasures say that they have done, in sums. */
import type { ErasureReceipt } from "../domain/ErasureReceipt.ts"

export const emptyReceipt: ErasureReceipt = { events: 0, sessions: 0, pieces: 0, bytes: 0, damaged: 0 }

export const addReceipts = (a: ErasureReceipt, b: ErasureReceipt): ErasureReceipt => ({
  events: a.events + b.events,
  sessions: a.sessions + b.sessions,
  pieces: a.pieces + b.pieces,
  bytes: a.bytes + b.bytes,
  damaged: a.damaged + b.damaged
})
