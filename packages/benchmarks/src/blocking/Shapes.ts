/** Bodies that take more time to read than others of their size. */

/** The largest body of an event by default. */
const maxBytes = 32 * 2 ** 20

export interface Shape {
  readonly name: string
  /** The body of Create Event. */
  readonly body: () => Buffer
}

type Envelope = (payload: { readonly inputs?: string; readonly output?: string }, beside?: string) => Buffer

export const envelopeFor =
  (fingerprintId: string): Envelope =>
  ({ inputs = "{}", output = "{}" }, beside = "") =>
    Buffer.from(
      `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":"blocking",${beside}` +
        `"properties":{"api":"provider1-chat-completions","inputs":${inputs},"output":${output}}}`
    )

/** Leaves room for the envelope. */
const room = maxBytes - 1024

/** As many as fit, with commas between. */
const list = (item: string): string => {
  const count = Math.floor(room / (item.length + 1))
  return `${item},`.repeat(count - 1) + item
}

const numbered = (item: (n: number) => string): string => {
  const items: Array<string> = []
  for (let n = 0, length = 0; length < room - 2048; n++) {
    const next = item(n)
    length += next.length + 1
    items.push(next)
  }
  return items.join(",")
}

const nested = (open: string, close: string): string => {
  const levels = Math.floor(room / (open.length + close.length))
  return `${open.repeat(levels)}0${close.repeat(levels)}`
}

const message = (n: number): string => `{"role":"user","content":"message ${n}"}`

const knownMessages = 50_000
const messages = Array.from({ length: knownMessages }, (_, n) => message(n))

/** In the order in which they are sent to one session: of the last two, the first makes the messages known. */
export const shapesFor = (envelope: Envelope): ReadonlyArray<Shape> => [
  { name: "one string", body: () => envelope({ output: `{"text":"${"x".repeat(room)}"}` }) },
  { name: "a string of escapes", body: () => envelope({ output: `{"text":"${'\\"'.repeat(room / 2)}"}` }) },
  { name: "a string of \\u escapes", body: () => envelope({ output: `{"text":"${"\\u0041".repeat(room / 6)}"}` }) },
  { name: "[[[[… in output", body: () => envelope({ output: `{"x":${nested("[", "]")}}` }) },
  { name: "[[[[… in inputs", body: () => envelope({ inputs: `{"messages":${nested("[", "]")}}` }) },
  { name: '{"":{"":… in inputs', body: () => envelope({ inputs: `{"x":${nested('{"":', "}")}}` }) },
  { name: "[[[[… without an end", body: () => Buffer.from("[".repeat(maxBytes)) },
  { name: "[[[[… beside the payload", body: () => envelope({}, `"agent":${nested("[", "]")},`) },
  { name: "11 million [] in output", body: () => envelope({ output: `{"x":[${list("[]")}]}` }) },
  { name: "11 million [] in inputs", body: () => envelope({ inputs: `{"messages":[${list("[]")}]}` }) },
  { name: "11 million {} in choices", body: () => envelope({ output: `{"choices":[${list("{}")}]}` }) },
  { name: "[0,0,0… in output", body: () => envelope({ output: `{"x":[${list("0")}]}` }) },
  { name: "[0,0,0… in inputs", body: () => envelope({ inputs: `{"messages":[${list("0")}]}` }) },
  { name: "[1.5e3,…", body: () => envelope({ output: `{"x":[${list("1.5e3")}]}` }) },
  { name: "one number", body: () => envelope({}, `"duration_ms":${"1".repeat(room)},`) },
  { name: "short keys in inputs", body: () => envelope({ inputs: `{${list('"":0')}}` }) },
  { name: "distinct keys in inputs", body: () => envelope({ inputs: `{${numbered((n) => `"k${n}":0`)}}` }) },
  { name: "distinct keys in output", body: () => envelope({ output: `{${numbered((n) => `"k${n}":0`)}}` }) },
  { name: "distinct keys in the event", body: () => envelope({}, `${numbered((n) => `"k${n}":0`)},`) },
  { name: "escaped keys", body: () => envelope({ inputs: `{${list('"\\u0061":0')}}` }) },
  { name: "messages of 16 bytes", body: () => envelope({ inputs: `{"messages":[${list('"xxxxxxxxxxxxxxxx"')}]}` }) },
  {
    name: "distinct messages of 40 bytes",
    body: () => envelope({ inputs: `{"messages":[${numbered(message)}]}` })
  },
  {
    name: "distinct strings of 1 KiB",
    body: () => envelope({ output: `{"x":[${numbered((n) => `"${n}${"y".repeat(1020)}"`)}]}` })
  },
  { name: "arrays of messages", body: () => envelope({ inputs: `{${list('"":[{},[0]]')}}` }) },
  { name: "white space", body: () => envelope({ inputs: `{"x":[${" ".repeat(room)}]}` }) },
  { name: "[0,0,0… and then an error", body: () => envelope({ output: `{"x":[${list("0")}}` }) },
  { name: "[0,0,0… and a missing field", body: () => Buffer.from(`{"x":[${list("0")}]}`) },
  { name: "[0,0,0… in place of an event", body: () => Buffer.from(`[${list("0")}]`) },
  { name: "a string in place of an event", body: () => Buffer.from(`"${"x".repeat(room)}"`) },
  { name: "50,000 messages", body: () => envelope({ inputs: `{"messages":[${messages.join(",")}]}` }) },
  { name: "… reversed", body: () => envelope({ inputs: `{"messages":[${messages.toReversed().join(",")}]}` }) }
]
