/** Unique events of 4 KiB. */

const bodyBytes = 4096

const sessions = 1_000
/** The same numbers as in a store filled by `FilledStore`. */
export const agents = 50
export const people = 1_000

/** Pseudorandom numbers below a limit, determined by the seed. */
const random = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const syllables = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "ze"]

/** A vocabulary of random words, about as large as that of a conversation. */
const words: ReadonlyArray<string> = (() => {
  const next = random(1)
  return Array.from({ length: 4_000 }, () =>
    Array.from({ length: 1 + next(4) }, () => syllables[next(syllables.length)]).join("")
  )
})()

/** Characters of the user's message. The answer fills the rest of the body. */
const questionLength = 2_600

const pad = (n: number, digits: number) => String(n).padStart(digits, "0")

const bodyOf = (index: number, fingerprintId: string): Buffer => {
  const next = random(index + 1)
  const text = (length: number) => {
    let text = ""
    while (text.length < length) text += `${words[next(words.length)]!} `
    return text.slice(0, length)
  }
  const json = (answer: string) =>
    JSON.stringify({
      session: `load ${pad(0, 4)} session ${pad(index % sessions, 4)}`,
      event_name: "llm",
      fingerprint_id: fingerprintId,
      agent: `agent ${index % agents}`,
      agent_version: "1.0.0",
      person: `person ${index % people}`,
      properties: {
        api: "provider2-messages",
        inputs: {
          model: "m-1",
          max_tokens: 1024,
          system: "You answer in the language in which you were asked.",
          messages: [{ role: "user", content: text(questionLength) }]
        },
        output: {
          role: "assistant",
          content: [{ type: "text", text: answer }],
          model: "m-1",
          stop_reason: "end_turn",
          usage: { input_tokens: 700 + (index % 50), output_tokens: 200 + (index % 50) }
        }
      }
    })
  return Buffer.from(json(text(bodyBytes - json("").length)))
}

/** Position of the load's number in each body. */
const loadOffset = Buffer.byteLength(`{"session":"load `)

/** Bodies for any number of loads. Each load has its own session names, so that no session is known from an earlier load. */
export class Bodies {
  readonly #fingerprintId: string
  readonly #bodies: Array<Buffer> = []
  #loads = 0

  constructor(fingerprintId: string) {
    this.#fingerprintId = fingerprintId
  }

  /** The bodies of the next load. The next call overwrites them. */
  next(count: number): ReadonlyArray<Buffer> {
    while (this.#bodies.length < count) this.#bodies.push(bodyOf(this.#bodies.length, this.#fingerprintId))
    const load = pad(++this.#loads, 4)
    const bodies = this.#bodies.slice(0, count)
    for (const body of bodies) body.write(load, loadOffset)
    return bodies
  }
}
