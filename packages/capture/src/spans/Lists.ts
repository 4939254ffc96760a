/** Folds lists that came as many attributes, such as `llm.input_messages.0.message.role`, and unfolds them again. */
import { define } from "@tachograph/formats/json/ExactJson"
import type { Attributes, Value } from "./Span.ts"

/** The lists. Nothing else is folded, so that what unfolds is known. */
const heads = [
  ...["gen_ai.prompt", "gen_ai.completion"],
  ...["llm.input_messages", "llm.output_messages", "llm.tools", "llm.prompts", "llm.choices", "llm.request.functions"]
]

const ofHead = new RegExp(
  `^(${heads.map((head) => head.replaceAll(".", "\\.")).join("|")})\\.(\\d{1,6}(?:\\..+)?)$`,
  "s"
)

/** No emitter has more lists in each other. */
const maxLevels = 16

const index = /^(?:0|[1-9]\d{0,5})$/

/** The indexes and names of a path: names are what stands between indexes. */
const placesOf = (path: string): ReadonlyArray<string | number> => {
  const places: Array<string | number> = []
  let name: Array<string> = []
  const endName = () => {
    if (name.length > 0) places.push(name.join("."))
    name = []
  }
  for (const segment of path.split(".")) {
    if (!index.test(segment)) name.push(segment)
    else {
      endName()
      places.push(Number(segment))
    }
  }
  endName()
  return places
}

type Node = Value | Map<string | number, Node>

/** Puts a value into a tree. Whether that could be: it cannot where something stands already. */
const put = (tree: Map<string | number, Node>, places: ReadonlyArray<string | number>, value: Value): boolean => {
  if (places.length > maxLevels || (typeof value === "object" && value !== null)) return false
  let at = tree
  for (const place of places.slice(0, -1)) {
    const inner = at.get(place) ?? new Map<string | number, Node>()
    if (!(inner instanceof Map)) return false
    at.set(place, inner)
    at = inner
  }
  const last = places.at(-1)!
  if (at.has(last)) return false
  at.set(last, value)
  return true
}

/** A list has the indexes from 0 on without a gap, and an object has none. Undefined where a node is neither. */
const valueOf = (node: Node): Value | undefined => {
  if (!(node instanceof Map)) return node
  const isList = node.has(0)
  const value: Array<Value> | Record<string, Value> = isList ? [] : {}
  for (let at = 0; isList && at < node.size; at++) if (!node.has(at)) return undefined
  for (const [place, inner] of node) {
    const read = !isList && typeof place === "number" ? undefined : valueOf(inner)
    if (read === undefined) return undefined
    define(value, place, read)
  }
  return value as Value
}

/** The same attributes, with an array of objects in the place of each list that is complete. Others stay as they came. */
export const fold = (attributes: Attributes): Attributes => {
  const trees = new Map<string, Map<string | number, Node>>()
  const broken = new Set<string>()
  for (const [key, value] of attributes) {
    const [, head, path] = ofHead.exec(key) ?? []
    if (head === undefined || broken.has(head)) continue
    const tree = trees.get(head) ?? new Map<string | number, Node>()
    trees.set(head, tree)
    if (attributes.has(head) || !put(tree, placesOf(path!), value)) broken.add(head)
  }
  const lists = new Map<string, Value>()
  for (const [head, tree] of trees) {
    const list = broken.has(head) ? undefined : valueOf(tree)
    if (Array.isArray(list)) lists.set(head, list)
  }
  const folded = new Map<string, Value>()
  for (const [key, value] of attributes) {
    const head = ofHead.exec(key)?.[1]
    const list = head === undefined ? undefined : lists.get(head)
    if (list === undefined) folded.set(key, value)
    // It stands where its first attribute stood.
    else if (!folded.has(head!)) folded.set(head!, list)
  }
  return folded
}

/** The attributes that `fold` was given, in any order. */
export const unfold = (folded: Attributes): Attributes => {
  const attributes = new Map<string, Value>()
  for (const [key, value] of folded) {
    const open: Array<readonly [string, Value]> = [[key, value]]
    const isList = heads.includes(key) && Array.isArray(value)
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [name, inner] = next
      if (!isList || typeof inner !== "object" || inner === null) attributes.set(name, inner)
      else for (const [place, item] of Object.entries(inner)) open.push([`${name}.${place}`, item as Value])
    }
  }
  return attributes
}
