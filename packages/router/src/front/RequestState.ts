/** The places of requests, by what carries them: one may go several ways through us before it is answered. */
import type { Place, Room } from "@tachograph/core"

const places = new WeakMap<object, Place>()

/** Whoever has one keeps it. */
export const enter = (room: Room, source: object): Place => {
  const place = places.get(source) ?? room.permit()
  places.set(source, place)
  return place
}

export const of = (source: object): Place | undefined => places.get(source)

export const leave = (source: object): void => {
  places.get(source)?.release()
  places.delete(source)
}
