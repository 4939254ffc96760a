/** Generates sessions: calls whose histories grow, shrink, change, repeat and interleave, in various styles of JSON. */
import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import type { Texts } from "./RecordedSession.ts"

/** The longest text of each seed so far, of which the others are the beginning. */
const noises = new Map<number, string>()

/** Incompressible text, determined by the seed. */
export const noise = (seed: number, length: number): string => {
  let text = noises.get(seed) ?? ""
  if (text.length < length) {
    text = ""
    let state = (seed * 2_654_435_761 + 1) >>> 0
    while (text.length < length) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      text += state.toString(36)
    }
    noises.set(seed, text)
  }
  return text.slice(0, length)
}

const string = (lengths: ReadonlyArray<number>) =>
  fc
    .tuple(fc.nat(20), fc.constantFrom(...lengths), fc.constantFrom("", "\\n", '\\"', "é", "😀", "\\ud800", "{[,:"))
    .map(([seed, length, odd]) => `"${noise(seed, length)}${odd}"`)

/** JSON texts with strings of the given lengths, which straddle the limits of `PiecePolicy` and `Pack`. */
const value = (lengths: ReadonlyArray<number>): fc.Arbitrary<string> => {
  const jsonString = string(lengths)
  return fc.oneof(
    { arbitrary: fc.constantFrom("1.0", "1e400", "-0", "null", "{}", "[]", '"hi"', "0"), weight: 2 },
    { arbitrary: string([4, 12, 14, 30]), weight: 3 },
    { arbitrary: jsonString, weight: 3 },
    { arbitrary: jsonString.map((text) => `{"role":"user","content":${text}}`), weight: 5 },
    { arbitrary: jsonString.map((text) => `{ "role": "system","content":${text}}`), weight: 1 },
    { arbitrary: jsonString.map((text) => `{"role":"developer","content":[${text},{"text":${text}}]}`), weight: 1 },
    {
      arbitrary: fc
        .array(jsonString, { minLength: 1, maxLength: 3 })
        .map(
          (texts) => `{"role": "a", "content": [${texts.map((text) => `{"type":"text", "text":${text}}`).join(" ,")}]}`
        ),
      weight: 4
    },
    {
      arbitrary: fc.tuple(jsonString, fc.nat(80)).map(([text, depth]) => "[".repeat(depth) + text + "]".repeat(depth)),
      weight: 1
    },
    { arbitrary: RandomJson.jsonText.map((text) => text.trim()), weight: 4 },
    { arbitrary: RandomJson.jsonObjectText, weight: 2 }
  )
}

interface Style {
  readonly open: string
  readonly comma: string
  readonly colon: string
  readonly close: string
}

const styles: ReadonlyArray<Style> = [
  { open: "", comma: ",", colon: ":", close: "" },
  { open: "", comma: ", ", colon: ": ", close: "" },
  { open: "\n  ", comma: ",\n  ", colon: ": ", close: "\n" },
  { open: "\t", comma: " \r\n,\t", colon: " :\n", close: "  " },
  { open: "", comma: `${" ".repeat(70)},`, colon: ":", close: "" }
]

const array = (elements: ReadonlyArray<string>, { close, comma, open }: Style) =>
  `[${open}${elements.join(comma)}${close}]`

const object = (members: ReadonlyArray<readonly [string, string]>, { close, colon, comma, open }: Style) =>
  `{${open}${members.map(([key, value]) => `"${key}"${colon}${value}`).join(comma)}${close}}`

/** An edit of a conversation between two calls. `values` and `value` are indexes into a pool of values. */
type Edit =
  | { readonly kind: "append"; readonly values: ReadonlyArray<number> }
  | { readonly kind: "answer" | "same" }
  | { readonly kind: "drop" | "forget"; readonly count: number }
  | { readonly kind: "change" | "insert"; readonly at: number; readonly value: number }

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant("append"), values: fc.array(fc.nat(11), { maxLength: 9 }) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constantFrom("answer", "same") }), weight: 3 },
  {
    arbitrary: fc.record({ kind: fc.constantFrom("drop", "forget"), count: fc.integer({ min: 1, max: 3 }) }),
    weight: 2
  },
  { arbitrary: fc.record({ kind: fc.constantFrom("change", "insert"), at: fc.nat(20), value: fc.nat(11) }), weight: 2 }
)

const edited = (
  messages: ReadonlyArray<string>,
  by: Edit,
  pool: ReadonlyArray<string>,
  answer: ReadonlyArray<string>
) => {
  const pick = (index: number) => pool[index % pool.length]!
  switch (by.kind) {
    case "append":
      return [...messages, ...by.values.map(pick)]
    case "answer":
      return [...messages, ...answer, pick(0)]
    case "same":
      return messages
    case "drop":
      return messages.slice(0, -by.count)
    case "forget":
      return messages.slice(by.count)
    case "change":
      return messages.length === 0 ? messages : messages.with(by.at % messages.length, pick(by.value))
    case "insert":
      return messages.toSpliced(by.at % (messages.length + 1), 0, pick(by.value))
  }
}

const call = fc.record({
  who: fc.nat(2),
  edit,
  setting: fc.nat(11),
  inputsShape: fc.nat(5),
  output: fc.array(fc.nat(11), { minLength: 1, maxLength: 3 }),
  outputShape: fc.nat(2)
})

/** The calls of a session with three conversations, each in a style of its own. */
const calls = (lengths: ReadonlyArray<number>, maxCalls: number): fc.Arbitrary<ReadonlyArray<Texts>> =>
  fc
    .record({
      pool: fc.array(value(lengths), { minLength: 6, maxLength: 12 }),
      style: fc.array(fc.constantFrom(...styles), { minLength: 3, maxLength: 3 }),
      calls: fc.array(call, { minLength: 1, maxLength: maxCalls })
    })
    .map(({ calls, pool, style }) => {
      const pick = (index: number) => pool[index % pool.length]!
      const conversations: Array<ReadonlyArray<string>> = [[], [], []]
      let answer: ReadonlyArray<string> = []
      return calls.map(({ edit, inputsShape, output, outputShape, setting, who }) => {
        const messages = (conversations[who] = edited(conversations[who]!, edit, pool, answer))
        const by = style[who]!
        const other = array(conversations[(who + 1) % 3]!, by)
        const history = array(messages, by)
        const inputs = [
          history,
          object(
            [
              ["model", '"m"'],
              ["system", pick(setting)],
              ["messages", history],
              ["tools", other]
            ],
            by
          ),
          object(
            [
              ["contents", history],
              ["temperature", "1.0"]
            ],
            by
          ),
          object(
            [
              ["a", object([["b", history]], by)],
              ["a", pick(setting)],
              ["c", other],
              ["a", history]
            ],
            by
          ),
          object(
            [
              ["messages", history],
              ["system", pick(setting)]
            ],
            by
          ),
          pick(setting)
        ][inputsShape]!
        answer = output.map(pick)
        const outputText = [
          array(answer, by),
          object(
            [
              ["id", '"x"'],
              ["content", array(answer, by)]
            ],
            by
          ),
          answer[0]!
        ][outputShape]!
        return { inputs, output: outputText }
      })
    })

/** Values of up to a few KiB. */
export const anyCalls = calls([20, 40, 130, 300, 600, 1030, 4100], 12)

/** Values large enough to end chains, to make packs stand alone, and to defer the hashes of first calls. */
export const largeCalls = calls([600, 3000, 4090, 6000, 9000, 17_000, 40_000], 14)

/** An agent run whose `messages`, each about `bytes` long, grow by two with each call. */
export const growing = (count: number, bytes: number, comma = ","): ReadonlyArray<Texts> => {
  const messages = Array.from(
    { length: 2 * count },
    (_, number) => `{"role":"user","content":"${number} ${noise(number, bytes)}"}`
  )
  return Array.from({ length: count }, (_, index) => ({
    inputs: `{"model":"m","messages":[${messages.slice(0, 2 * index + 1).join(comma)}]}`,
    output: `{"choices":[{"message":${messages[2 * index + 1]}}]}`
  }))
}
