import { Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Name, NameOrEmpty } from "../../src/domain/Name.ts"

const isName = (text: string) => Option.isSome(Schema.decodeUnknownOption(Name)(text))

describe("Name", () => {
  it.each([
    ["of one UTF-16 unit", "n"],
    ["of two UTF-16 units", "\u{1f600}"]
  ])("has 1 to 255 code points %s", (_, character) => {
    expect([0, 1, 255, 256].map((length) => isName(character.repeat(length)))).toEqual([false, true, true, false])
  })

  it.each([Name, NameOrEmpty])(
    "is no step of a path where it comes in, and is answered where an earlier version stored it",
    (schema) => {
      for (const name of [".", ".."]) {
        expect(Option.isSome(Schema.decodeUnknownOption(schema)(name))).toBe(false)
        expect(Schema.encodeSync(schema)(name)).toBe(name)
      }
      for (const name of ["...", ". ", "a..", "%2E"]) expect(Schema.decodeUnknownSync(schema)(name)).toBe(name)
    }
  )

  it("is refused by its length before its characters are read", () => {
    let reads = 0
    // A check of a name takes a string; this one counts what is done with it beside asking for its length.
    const long = new Proxy(Object("x".repeat(511)) as object, {
      get: (target, property) => {
        if (property !== "length") reads++
        return Reflect.get(target, property)
      }
    })
    const [check] = Name.ast.checks!
    const run = (check as unknown as { readonly run: (input: unknown, ast: unknown, options: object) => unknown }).run
    expect(run(long, Name.ast, {})).toBeDefined()
    expect(reads).toBe(0)
  })
})
