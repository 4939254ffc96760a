/** Changes posts at random: as values, as JSON texts and as bytes. */
import type { Random } from "../../harness/Random.ts"
import { type Json, oneOf } from "./Posts.ts"

type Container = Array<Json> | Record<string, Json>

const containersOf = (value: Json): ReadonlyArray<Container> => {
  const found: Array<Container> = []
  const open: Array<Json> = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue
    found.push(next as Container)
    open.push(...Object.values(next).slice(0, 1_000))
  }
  return found
}

const junk: ReadonlyArray<Json> = [
  null,
  {},
  [],
  "",
  0,
  -1,
  1e308,
  true,
  "junk",
  [[]],
  [null],
  { key: null },
  { value: {} }
]

/** Replaces, deletes, repeats and moves values. `isKept` says which containers stay as they are. */
export const ofValue = (value: Json, random: Random, changes: number): Json => {
  const copy = structuredClone(value)
  for (let n = 0; n < changes; n++) {
    const container = oneOf(random, containersOf(copy))
    const names = Object.keys(container)
    if (names.length === 0) continue
    const name = oneOf(random, names)
    const list = Array.isArray(container) ? container : undefined
    const record = container as Record<string, Json>
    const kind = random(0, 4)
    if (kind === 0 && list === undefined) delete record[name]
    else if (kind === 0) list!.splice(Number(name), 1)
    else if (kind === 1 && list !== undefined) list.push(structuredClone(oneOf(random, list)))
    else if (kind === 2 && list !== undefined) list.reverse()
    else if (kind === 3) record[name] = structuredClone(oneOf<Json>(random, containersOf(copy) as ReadonlyArray<Json>))
    else record[name] = structuredClone(oneOf(random, junk))
  }
  return copy
}

/** Inserted after a brace: members that an object has twice, or that mean something to JavaScript. */
const members = [
  `"__proto__":{"polluted":true},`,
  `"constructor":{"prototype":{"polluted":true}},`,
  `"traceId":"",`,
  `"value":null,"value":{"stringValue":"twice"},`,
  `"resource":null,`,
  `"attributes":[],`,
  `"attributes":{"values":1},`,
  `"spans":{},`
]

export const ofText = (text: string, random: Random): string => {
  const braces = Array.from(text.slice(0, 100_000).matchAll(/\{(?=")/g), ({ index }) => index + 1)
  if (braces.length === 0) return text
  const at = oneOf(random, braces)
  return text.slice(0, at) + oneOf(random, members) + text.slice(at)
}

/** Flips, cuts, repeats, moves and inserts bytes. */
export const ofBytes = (bytes: Uint8Array, random: Random, changes: number): Buffer => {
  let changed = Buffer.from(bytes)
  for (let n = 0; n < changes && changed.length > 0; n++) {
    const [one, other] = [random(0, changed.length - 1), random(0, changed.length - 1)]
    const [start, end] = [Math.min(one, other), Math.max(one, other)]
    const part = changed.subarray(start, Math.min(end, start + 2_000))
    const kind = random(0, 5)
    if (kind < 2) changed[one]! ^= 1 << random(0, 7)
    else if (kind === 2) changed = changed.subarray(0, start)
    else if (kind === 3) changed = Buffer.concat([changed.subarray(0, end), part, changed.subarray(end)])
    else if (kind === 4)
      changed = Buffer.concat([changed.subarray(0, start), changed.subarray(start + part.length), part])
    else {
      const noise = Uint8Array.from({ length: random(1, 10) }, () => random(0, 255))
      changed = Buffer.concat([changed.subarray(0, start), noise, changed.subarray(start)])
    }
  }
  return changed
}
