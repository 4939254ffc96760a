/** Lists of events, the latest first, past those that are damaged. */
import { api } from "./Client.ts"
import * as Damage from "./Damage.ts"
import type { Page } from "./PagedList.ts"
import type { ListedEvent } from "./Types.ts"

type Query = NonNullable<Parameters<typeof api.listEvents>[0]>

/** Where a list goes on: after a row, by the server's cursor, and before a damaged event. */
interface Place {
  readonly before_event?: string
  readonly cursor?: string
}

/** What is read at once, and whether damage made it shorter. */
interface Piece extends Page<ListedEvent> {
  readonly isCut: boolean
}

/**
 * As far as a damaged event, which stands alone in the next piece. The piece after that begins before it by its id, because there
 * is no cursor of an event that is not answered.
 */
const readPiece = async (query: Query, place: string | null, limit: number, signal: AbortSignal): Promise<Piece> => {
  const from = place === null ? {} : (JSON.parse(place) as Place)
  const ask = (limit: number) => api.listEvents({ ...query, ...from, order: "desc", limit }, { signal })
  const { limit: asked, page } = await Damage.readPage(ask, limit)
  if (Damage.isDamaged(page)) {
    const next = JSON.stringify({ before_event: page.damaged } satisfies Place)
    return { rows: [Damage.summaryOf(page.damaged)], next, isCut: true }
  }
  const { events, next_cursor: cursor } = page
  const next = cursor === null ? null : JSON.stringify({ ...from, cursor } satisfies Place)
  return { rows: events, next, isCut: asked < limit }
}

/** A page of calls sorted by a figure. */
export const readSorted = async (query: Query, cursor: string | null, limit: number, signal: AbortSignal) => {
  const page = await api.listEvents({ ...query, cursor: cursor ?? undefined, limit }, { signal })
  return { rows: page.events as ReadonlyArray<ListedEvent>, next: page.next_cursor }
}

/** A page, with what stands for damaged events. */
export const readLatest = async (
  query: Query,
  place: string | null,
  limit: number,
  signal: AbortSignal
): Promise<Page<ListedEvent>> => {
  const rows: Array<ListedEvent> = []
  let pieceLimit = limit
  for (let next = place; ;) {
    const piece: Piece = await readPiece(query, next, Math.min(pieceLimit, limit - rows.length), signal)
    rows.push(...piece.rows)
    next = piece.next
    const isPast = piece.rows.some(({ is_damaged }) => is_damaged === true)
    const isWhole = !piece.isCut && pieceLimit === limit
    if (isWhole || next === null || rows.length >= limit) return { rows, next }
    // Small pieces until the damaged event is passed.
    pieceLimit = piece.isCut && !isPast ? Math.max(1, piece.rows.length) : limit
  }
}
