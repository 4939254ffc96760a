/** Create Fingerprint: its fields, and that equal fields get the same id. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { expectInvalid } from "./Requests.ts"

const path = "/api/v1/fingerprints"
const required = { language: "python", language_version: "3.12", system: "linux" }
const optional = [
  "provider1_sdk_version",
  "provider2_sdk_version",
  "provider3_sdk_version",
  "service_sdk_version",
  "git_repository_url",
  "git_branch",
  "git_commit_hash",
  "git_commit_date"
]

export const define = ({ describe, fixture, it }: Cases) => {
  const put = (fields: Record<string, unknown>) => fixture().client.put(path, { ...required, ...fields })
  const idOf = async (fields: Record<string, unknown>) => (await put(fields)).body.fingerprint_id

  describe("Create Fingerprint", () => {
    it("returns fingerprint_id only", async () => {
      const { body, status } = await put({})
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(["fingerprint_id"])
      expect(body.fingerprint_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    })

    it.each(Object.keys(required))("requires %s, a string", async (field) => {
      expectInvalid(await put({ [field]: undefined }), "missing", "body", field)
      expectInvalid(await put({ [field]: null }), "string_type", "body", field)
      expect((await put({ [field]: "" })).status).toBe(200)
    })

    it.each(optional)("accepts a string as %s; null means absent", async (field) => {
      const without = await idOf({})
      expect(await idOf({ [field]: null })).toBe(without)
      const given = await idOf({ [field]: "x" })
      expect(given).not.toBe(without)
      expect(await idOf({ [field]: "x" })).toBe(given)
      expectInvalid(await put({ [field]: 1 }), "string_type", "body", field)
    })

    it("accepts a map of strings as all_packages, in any order", async () => {
      const one = await idOf({ all_packages: { a: "1", b: "2" } })
      expect(await idOf({ all_packages: { b: "2", a: "1" } })).toBe(one)
      expect(await idOf({ all_packages: { a: "2", b: "1" } })).not.toBe(one)
      expect(await idOf({ all_packages: {} })).not.toBe(await idOf({}))
      expectInvalid(await put({ all_packages: [] }), "dict_type", "body", "all_packages")
      expectInvalid(await put({ all_packages: { a: 1 } }), "string_type", "body", "all_packages", "a")
    })

    it.each([
      ["openai_sdk_version", "provider1_sdk_version"],
      ["anthropic_sdk_version", "provider2_sdk_version"],
      ["gemini_sdk_version", "provider3_sdk_version"],
      ["google_sdk_version", "provider3_sdk_version"],
      ["tachograph_sdk_version", "service_sdk_version"]
    ])("accepts %s as an alias of %s", async (alias, neutral) => {
      const id = await idOf({ [neutral]: "1.2.3" })
      expect(await idOf({ [alias]: "1.2.3" })).toBe(id)
      expect(await idOf({ [alias]: "other", [neutral]: "1.2.3" })).toBe(id)
      expectInvalid(await put({ [alias]: 1 }), "string_type", "body", alias)
    })

    it("returns different ids in different projects", async () => {
      const { as, issue } = fixture()
      const { key } = await issue({ scopes: ["record"], project: "fingerprints" })
      const other = await as(key).put(path, required)
      expect(other.body.fingerprint_id).not.toBe(await idOf({}))
    })

    it("distinguishes U+0000, lone surrogates, U+FFFD and the empty string", async () => {
      const ids = await Promise.all(
        ["\u0000", "\ud800", "\udfff", "\ufffd", ""].map((git_branch) => idOf({ git_branch }))
      )
      expect(new Set(ids).size).toBe(ids.length)
    })
  })
}
