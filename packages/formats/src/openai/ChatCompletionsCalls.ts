/** The tool calls of chat completions, built from deltas. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, text } from "../json/Read.ts"
import * as Completeness from "../stream/Completeness.ts"
import { append, maxPlaces, setFirst, setLast, type Draft } from "../stream/Draft.ts"

interface Call {
  readonly fields: Draft
  /** The keys of nested objects, `function` or `custom`. */
  readonly nested: Map<string, Draft>
  arguments: ReturnType<typeof Completeness.make>
}

/** The two kinds of calls, and where each has what it is called with. */
const kinds: ReadonlyArray<readonly [key: string, given: string]> = [
  ["function", "arguments"],
  ["custom", "input"]
]

/** The name of what is called. */
export const nameIn = (call: Json): string | null =>
  text(get(call, "function", "name")) ?? text(get(call, "custom", "name"))

const hasArguments = (call: JsonObject): boolean => kinds.some(([key, given]) => !isEmpty(get(call, key, given)))

/** Whether all that a function is called with has come. Text of a custom tool has no end of its own. */
const isComplete = (call: Call): boolean =>
  call.arguments.isComplete() || isObject(get(call.fields, "function", "arguments"))

/** Some gateways begin each call with an empty object, before the arguments that it has. Longer texts are not read with each delta. */
const isPlaceholder = (call: Call): boolean => {
  const given = text(get(call.fields, "function", "arguments"))
  return given !== null && given.length <= 8 && /^\s*\{\s*\}\s*$/.test(given)
}

/**
 * Whether a delta begins another call than the one at its place, because many providers give all calls the same index, and some no id: it
 * has another id with a name, or another name, or arguments although those of the call are complete. The same name may come again.
 */
const isAnother = (call: Call, delta: JsonObject): boolean => {
  const [name, named] = [nameIn(delta), nameIn(call.fields)]
  const [id, known] = [text(delta["id"]), text(call.fields["id"])]
  // Nothing follows a complete object, so that another one is of another call, also where nobody names it.
  if (name === null)
    return (
      id === null &&
      isComplete(call) &&
      !isPlaceholder(call) &&
      /^\s*\{/.test(text(get(delta, "function", "arguments")) ?? "")
    )
  if (id !== null && known !== null && id !== known) return true
  if (named === null) return false
  const isSameId = id !== null && id === known
  // Without any place, only what has begun goes on.
  if (id === null && typeof delta["index"] !== "number" && !call.arguments.isBegun()) return true
  return name === named ? !isSameId && isComplete(call) && hasArguments(delta) : !isSameId || isComplete(call)
}

export const make = () => {
  const calls: Array<Call> = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()

  /** The call at the index of a delta, unless its id is another's; else the one with its id; else the last. */
  const placeOf = (delta: JsonObject): Call | undefined => {
    const index = delta["index"]
    const id = text(delta["id"])
    const known = id === null ? undefined : byId.get(id)
    if (typeof index !== "number") return id === null ? calls.at(-1) : known
    const call = byIndex.get(index)
    const isOther = id !== null && id !== (text(call?.fields["id"]) ?? id)
    return isOther ? (known ?? call) : call
  }

  const begin = (): Call | undefined => {
    if (calls.length >= maxPlaces) return undefined
    const call = { fields: {}, nested: new Map(), arguments: Completeness.make() }
    calls.push(call)
    return call
  }

  const takeNested = (call: Call, key: string, value: JsonObject, given: string) => {
    const draft = call.nested.get(key) ?? {}
    call.nested.set(key, draft)
    if (isPlaceholder(call) && /^\s*\{/.test(text(value["arguments"]) ?? "")) {
      define(draft, "arguments", "")
      call.arguments = Completeness.make()
    }
    if (!Object.hasOwn(call.fields, key)) define(call.fields, key, draft)
    for (const [field, piece] of Object.entries(value)) {
      if (field === "name") setFirst(draft, field, piece)
      else if (field === "arguments" || field === "input") append(draft, field, piece ?? "")
      else setLast(draft, field, piece)
    }
    const piece = value[given]
    if (key === "function" && typeof piece === "string") call.arguments.take(piece)
  }

  return {
    take: (delta: Json) => {
      if (!isObject(delta)) return
      const known = placeOf(delta)
      const call = known === undefined || isAnother(known, delta) ? begin() : known
      if (call === undefined) return
      const index = delta["index"]
      const id = text(delta["id"])
      if (typeof index === "number") byIndex.set(index, call)
      if (id !== null) byId.set(id, call)
      for (const [key, value] of Object.entries(delta)) {
        const kind = isObject(value) ? kinds.find(([name]) => name === key) : undefined
        if (kind !== undefined) takeNested(call, key, value as JsonObject, kind[1])
        else if (key === "id") setFirst(call.fields, key, value)
        else setLast(call.fields, key, value)
      }
    },
    /** Only some providers repeat the index in an answer without streaming. */
    value: (withIndex: boolean): ReadonlyArray<Json> =>
      calls.map(({ fields }) =>
        withIndex ? fields : Object.fromEntries(Object.entries(fields).filter(([key]) => key !== "index"))
      )
  }
}
