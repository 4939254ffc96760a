/** Events of 4 KB, no two of which say the same. */

/** Bytes of every body. */
const bodySize = 4096

const sessions = 1_000
/** As in a store that was filled before. */
export const agents = 50
export const people = 1_000

/** Numbers below a limit; the same for the same seed. */
const random = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const syllables = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "ze"]

/** About as many words as people use, in a made-up language. */
const words: ReadonlyArray<string> = (() => {
  const next = random(1)
  return Array.from({ length: 4_000 }, () =>
    Array.from({ length: 1 + next(4) }, () => syllables[next(syllables.length)]).join("")
  )
})()

/** Letters of what the user asks; the answer has the rest. */
const asked = 2_600

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
          messages: [{ role: "user", content: text(asked) }]
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
  return Buffer.from(json(text(bodySize - json("").length)))
}

/** Where every body has the number of its load. */
const loadAt = Buffer.byteLength(`{"session":"load `)

/** Made once, for any number of loads: each has sessions of its own, so that nothing in it is known from the one before. */
export class Bodies {
  readonly #fingerprintId: string
  readonly #made: Array<Buffer> = []
  #loads = 0

  constructor(fingerprintId: string) {
    this.#fingerprintId = fingerprintId
  }

  /** Good until it is called again. */
  next(count: number): ReadonlyArray<Buffer> {
    while (this.#made.length < count) this.#made.push(bodyOf(this.#made.length, this.#fingerprintId))
    const load = pad(++this.#loads, 4)
    const bodies = this.#made.slice(0, count)
    for (const body of bodies) body.write(load, loadAt)
    return bodies
  }
}
