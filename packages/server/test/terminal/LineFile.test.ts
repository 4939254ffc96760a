import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as LineFile from "../../src/terminal/LineFile.ts"
import { temporaryFolder } from "../TachographProcess.ts"

const id = (n: number) => `01a00000-0000-7000-8000-${String(n).padStart(12, "0")}`
const event = (n: number, text = "") => `{"type":"event","event_id":"${id(n)}","text":"${text}"}\n`
const unsettled = (n: number, text = "") => event(n, text).replace(`","text`, `","settled":false,"text`)
const first = '{"type":"export","format":1}\n'
const end = '{"type":"end","events":1}\n'

/** Opens a file with this text, and uses it. Returns its text then. */
const using = async (text: string, use: (file: LineFile.LineFile) => Effect.Effect<unknown, unknown>) => {
  const path = join(temporaryFolder(), "lines")
  writeFileSync(path, text)
  await Effect.runPromise(Effect.scoped(Effect.flatMap(LineFile.open(path), use)))
  return readFileSync(path, "utf8")
}

const lastEvents: Array<string | undefined> = []
const look = (file: LineFile.LineFile) => Effect.sync(() => lastEvents.push(file.lastEvent))
const write = (text: string) => (file: LineFile.LineFile) => file.write(Buffer.from(text))

it("is continued after its last settled event, and changed only by what is written", async () => {
  const many = Array.from({ length: 3_000 }, (_, n) => unsettled(2 + n, "x".repeat(50))).join("")
  for (const [kept, rest, last] of [
    [first + event(1), "", id(1)],
    [first + event(1), `${many}${end}`, id(1)],
    [first + event(1), `${end}{"type":"eve`, id(1)],
    [first + unsettled(1) + event(2), unsettled(3), id(2)],
    [`${first}{"type":"damaged","event_id":"${id(3)}"}\n`, end, id(3)],
    ["", first + many + end, undefined],
    ["", first, undefined],
    ["", "", undefined]
  ] as const) {
    const text = kept + rest
    expect(await using(text, look)).toBe(text)
    expect(lastEvents.pop()).toBe(last)
    expect(await using(text, (file) => file.back)).toBe(text)
    expect(await using(text, write(event(9)))).toBe(kept + event(9))
  }
})

it("finds lines wherever they begin", async () => {
  for (let length = 64 * 1024 - 700; length < 64 * 1024 + 700; length += 9) {
    const kept = first + event(1) + event(2, "x".repeat(length))
    for (const rest of [end, unsettled(3, "y".repeat(100)), unsettled(3, "z".repeat(length))]) {
      expect(await using(kept + rest, look)).toHaveLength(kept.length + rest.length)
      expect(lastEvents.pop()).toBe(id(2))
    }
  }
})

it("takes back what was written after the last settled event", async () => {
  const begun = first + event(1)
  const rewritten = await using(begun + unsettled(2), (file) =>
    Effect.gen(function* () {
      yield* write(event(3) + unsettled(4))(file)
      yield* file.back
      yield* write(event(4))(file)
    })
  )
  expect(rewritten).toBe(begun + event(3) + event(4))
  const nothingSettled = await using(begun, (file) =>
    Effect.andThen(write(unsettled(2) + unsettled(3))(file), () => file.back)
  )
  expect(nothingSettled).toBe(begun)
})

it("changes no file of another kind", async () => {
  const others = ["something else\n", '{"type":"person","person_id":"p"}\n', unsettled(1), "no line", `${first}\n`]
  for (const text of others) {
    const path = join(temporaryFolder(), "other")
    writeFileSync(path, text)
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(LineFile.open(path))))
    expect(error.message).toBe(`Cannot write to ${path}: it is no export`)
    expect(readFileSync(path, "utf8")).toBe(text)
  }
})
