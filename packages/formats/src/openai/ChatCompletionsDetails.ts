/** Lists whose elements come in pieces, each with an `index`, as OpenRouter's `reasoning_details` and Groq's `executed_tools`. */
import type { Json, JsonObject } from "../Format.ts"
import { get, isEmpty, isObject, says, text } from "../json/Read.ts"
import { maxPlaces, merge, type Draft } from "../stream/Draft.ts"

/** Fields that say more of a block, but for those that only close it. */
const saidIn = (item: JsonObject): boolean => ["text", "summary", "data"].some((key) => !isEmpty(get(item, key)))

/** What is signed is whole, and so is base64 with its padding. */
const isClosed = (draft: Draft): boolean =>
  !isEmpty(get(draft, "signature")) || (text(get(draft, "data"))?.slice(-1) ?? "") === "="

const isSame = (draft: Draft, item: JsonObject, key: string): boolean =>
  !says(item, key) || !says(draft, key) || get(item, key) === get(draft, key)

/**
 * An element goes on with the last one at its index, because some providers give all of them the same one; unless that is of another type,
 * has another id, or is whole.
 */
export const makeIndexed = () => {
  const items: Array<Draft> = []
  const byIndex = new Map<Json, Draft>()
  const byId = new Map<string, Draft>()
  return {
    items,
    take: (item: Json) => {
      if (!isObject(item)) return
      const index = get(item, "index") ?? null
      const id = text(get(item, "id"))
      const named = id === null ? undefined : byId.get(id)
      const known = named !== undefined && isSame(named, item, "type") ? named : byIndex.get(index)
      const goesOn =
        known !== undefined &&
        isSame(known, item, "type") &&
        (id === null || isSame(known, item, "id")) &&
        !(isClosed(known) && saidIn(item))
      const draft = goesOn ? known : {}
      if (!goesOn && items.length >= maxPlaces) return
      if (!goesOn) items.push(draft)
      byIndex.set(index, draft)
      if (id !== null) byId.set(id, draft)
      merge(draft, item, ["id", "index", "type"])
    }
  }
}
