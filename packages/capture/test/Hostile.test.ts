/**
 * Texts of strangers that a pattern could look at again and again. Each is so long that work which grows with the square of its length would
 * take minutes: then the test fails, because it takes too long.
 */
import { expect, it } from "vitest"
import { credentialsOf, suspectsOf } from "../src/masking/Credentials.ts"
import { isStream, modelInUrl, recognise } from "../src/Recognise.ts"

const length = 500_000

const long = (part: string) => part.repeat(length / part.length)

const random = "q7Zk29fLwX0aTb83"

const names = ["1", "1-", "a", "A", "aA", "a-", "-", "_", "token", "-key", "key1", "; ", "=", '"', "%"].flatMap(
  (part) => [long(part), `${long(part)}a`]
)

it.each(names.map((name) => [name.slice(0, 8), name] as const))("a name of a parameter of %s…", (_, name) => {
  expect(suspectsOf([], [[name, "short"]])).toEqual([])
  expect(() => suspectsOf([[name, random]], [[name, random]])).not.toThrow()
  expect(() => credentialsOf([[name, name]], [[name, name]])).not.toThrow()
  expect(() => credentialsOf([["authorization", name]], [["cookie", name]])).not.toThrow()
})

const parts = [
  "a",
  "/",
  "/messages",
  "/threads/",
  "/model/",
  "anthropic",
  "/models/x:generateContent",
  ":",
  ":stream",
  "?",
  "#"
]

it.each(parts)("a path of %s…", (part) => {
  for (const path of [
    `/${long(part)}-`,
    `/model/${long(part)}/invoke-`,
    `/models/${long(part)}-`,
    `/deployments/${long(part)}-`
  ]) {
    expect(recognise(path)).toBeNull()
    expect(isStream(path, "")).toBe(false)
    expect(() => modelInUrl(path)).not.toThrow()
  }
})
