/** Which exchanges the reading thread answers, so that recording does not wait for them. */
import { type EndpointName, endpoints } from "@tachograph/api"
import type { Exchange } from "../../Engine.ts"

const readsOf = ({ endpoint }: Pick<Exchange, "endpoint">) =>
  (endpoints as Readonly<Partial<Record<string, (typeof endpoints)[EndpointName]>>>)[endpoint]?.reads

/** One smaller event is not worth another thread with its memory (bytes). */
const largeEventBytes = 64 * 1024

export const isEventRead = (exchange: Pick<Exchange, "endpoint">): boolean => readsOf(exchange) === "event"

/** `eventBytes` is the size of the event that is read, where it is known. */
export const isLongRead = (exchange: Pick<Exchange, "endpoint">, eventBytes = 0): boolean =>
  readsOf(exchange) === "much" || (isEventRead(exchange) && eventBytes >= largeEventBytes)

/** What a thread has been asked and has not answered. */
interface Load {
  readonly inFlight: number
  readonly isFrozen: boolean
}

/**
 * Whether an event is probably large, as the last one was, and the reading thread runs already. The engine's thread would find its
 * size, and leave it to the other one.
 */
export const isProbablyLong = (
  exchange: Pick<Exchange, "endpoint">,
  lastEventBytes: number,
  reader: Load | undefined
): boolean => reader !== undefined && !reader.isFrozen && isEventRead(exchange) && isLongRead(exchange, lastEventBytes)

/** Whether the reading thread reads an event whose size is not known, because it runs already and has less to do. */
export const isForReader = (exchange: Pick<Exchange, "endpoint">, reader: Load, engine: Load): boolean =>
  !reader.isFrozen && isEventRead(exchange) && reader.inFlight < engine.inFlight
