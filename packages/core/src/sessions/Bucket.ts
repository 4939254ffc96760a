/**
 * Buckets spread sessions over the nodes of a distributed database. All rows of a session's own are in its bucket, and the ids of
 * its events contain it, so that what belongs to a session is on one node, and an id says where its event is.
 *
 * A bucket is computed from the session's name alone and equally for every storage, so that events keep their ids when they
 * are moved from one storage to another.
 */
import { crc32 } from "node:zlib"
import type { EventId } from "../domain/Event.ts"

/** Buckets are 0 to 255: the range of the last byte of an id. More would make batches of one bucket smaller. */
export const count = 256

export const ofSession = (session: string): number => crc32(session) % count

/** The bucket of the event's session. */
export const ofId = (id: EventId): number => Number.parseInt(id.slice(-2), 16)
