/** Content of chat completions, built from deltas: text, or a list of blocks whose neighbours are one block where they can be. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list } from "../json/Read.ts"
import { setLast, type Draft } from "../stream/Draft.ts"

/** Nesting of thoughts up to which they are joined. What is deeper is kept as it came. */
const maxDepth = 100

/** Fields that hold what a block says: as text, or as a list of blocks. */
const saying: ReadonlySet<string> = new Set(["text", "thinking", "reasoning", "summary", "content", "refusal"])

const sayingKeys = (block: JsonObject): ReadonlyArray<string> => Object.keys(block).filter((key) => saying.has(key))

/** What is signed is whole: what is said after it is another block. A signature may come after an empty text. */
const isClosed = (block: JsonObject): boolean => {
  let last: Json | undefined = block
  for (let depth = 0; depth < maxDepth && isObject(last); depth++) {
    if (!isEmpty(get(last, "signature"))) return true
    const holder: JsonObject = last
    const nested = sayingKeys(holder).find((key) => Array.isArray(holder[key]))
    last = nested === undefined ? undefined : list(holder[nested]).at(-1)
  }
  return false
}

const saysMore = (block: JsonObject): boolean => {
  const open: Array<Json> = [block]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isObject(next)) continue
    for (const key of sayingKeys(next)) {
      const value = next[key]
      if (typeof value === "string" && value !== "") return true
      if (open.length < maxDepth) open.push(...list(value).slice(0, maxDepth))
    }
  }
  return false
}

/** Whether a block goes on with the one before it: both say something, and nothing else tells them apart. */
const goesOn = (last: Draft, block: JsonObject): boolean => {
  const said = sayingKeys(block).filter((key) => !isEmpty(block[key]))
  if (sayingKeys(block).length === 0 || sayingKeys(last).length === 0) return false
  const isSame = Object.keys(block).every(
    (key) => saying.has(key) || isEmpty(block[key]) || isEmpty(get(last, key)) || block[key] === get(last, key)
  )
  const isOfOneKind = said.every((key) => isEmpty(get(last, key)) || typeof get(last, key) === typeof block[key])
  return isSame && isOfOneKind && last["type"] === block["type"] && !(isClosed(last) && saysMore(block))
}

/** A copy of a block whose lists can grow. */
const copyOf = (block: JsonObject, depth: number): Draft => {
  const copy: Draft = { ...block }
  if (depth >= maxDepth) return copy
  for (const key of sayingKeys(block)) {
    const inner = list(block[key])
    if (inner.length > 0) copy[key] = inner.map((piece) => (isObject(piece) ? copyOf(piece, depth + 1) : piece))
  }
  return copy
}

/** Brings a block into a list. */
export const take = (into: Array<Draft>, block: Json, depth = 0): void => {
  const last = into.at(-1)
  if (!isObject(block)) return void into.push(block as unknown as Draft)
  if (depth >= maxDepth || !isObject(last) || !goesOn(last, block)) return void into.push(copyOf(block, depth))
  for (const [field, value] of Object.entries(block)) {
    const current = get(last, field)
    if (!saying.has(field)) setLast(last, field, value)
    else if (typeof value === "string" && typeof current === "string") define(last, field, current + value)
    else if (Array.isArray(value) && Array.isArray(current)) {
      for (const piece of value) take(current as Array<Draft>, piece as Json, depth + 1)
    } else setLast(last, field, value)
  }
}

export const makeContent = () => {
  let said: string | null | undefined
  let blocks: Array<Draft> | null = null

  const takeBlock = (block: Json) => {
    blocks ??= isEmpty(said) ? [] : [{ type: "text", text: said as string }]
    // A text among blocks is one, and what is no block says nothing.
    if (typeof block === "string") take(blocks, { type: "text", text: block })
    else if (isObject(block)) take(blocks, block)
  }

  return {
    take: (content: Json) => {
      if (content === null) said ??= null
      else if (typeof content === "string" && blocks === null) said = (said ?? "") + content
      else if (Array.isArray(content)) {
        blocks ??= isEmpty(said) ? [] : [{ type: "text", text: said as string }]
        for (const block of content) takeBlock(block as Json)
      } else if (content !== "") takeBlock(content)
    },
    value: (): Json => blocks ?? said ?? null
  }
}
