/**
 * Invalid requests get the answers of a FastAPI service on pydantic v2. Recorded answers of such a service are outside of
 * the repository; without them only the project's own cases run, and the title of the group says so.
 */
import { MemoryStorage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { existsSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { overNode } from "./OverNode.ts"
import { cases } from "./ValidationCases.ts"

interface OracleCase {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly content_type: string
  readonly body: string | null
  readonly expect: { readonly status: number; readonly body: { readonly detail: ReadonlyArray<any> } | null }
}

const file = new URL("../../../../../shared/oracle/validation.json", import.meta.url)
const oracle: ReadonlyArray<OracleCase> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []

const key = "an API key for validation"

const overFetch: typeof overNode = (storage) => createTachograph({ storage, apiKeys: [key] })

describe.each([
  ["fetch", overFetch],
  ["node:http", overNode]
])("Validation over %s", (_, serve) => {
  let served: Awaited<ReturnType<typeof overNode>>
  let client: HttpClient.Client

  beforeAll(async () => {
    served = await serve(MemoryStorage.layer, [key])
    client = HttpClient.make(served.fetch, key)
    await client.put("/api/v1/agents", { agent_name: "bot" })
    await client.put("/api/v1/people", { person_id: "p1" })
  })

  afterAll(() => served.close())

  /** The position and the message of a JSON syntax error depend on the parser. */
  const comparedParts = ({ loc, msg, type, ...rest }: any) =>
    type === "json_invalid" ? { type, msg, place: loc[0] } : { type, msg, loc, ...rest }

  describe(`The oracle: ${oracle.length === 0 ? "not found, skipped" : `${oracle.length} answers of a FastAPI service`}`, () => {
    it.each(oracle.map((one) => [one.name, one] as const))(
      "%s",
      async (_, { body, content_type, expect: want, method, path }) => {
        const answer = await client.call(method, path, body ?? undefined, { "content-type": content_type })
        // The recorded service knew every fingerprint.
        const isUnknownFingerprint = answer.status === 404 && answer.body.type === "fingerprint-not-found"
        expect(isUnknownFingerprint ? 200 : answer.status).toBe(want.status)
        if (want.status === 422)
          expect(answer.body.detail.map(comparedParts)).toEqual(want.body!.detail.map(comparedParts))
      }
    )

    it("is not the only source of cases", () => {
      expect(cases.length).toBeGreaterThanOrEqual(20)
    })
  })

  describe("The project's own cases", () => {
    it.each(cases.map((one) => [one.name, one] as const))(
      "%s",
      async (_, { body, contentType, errors, first, method = "PUT", path }) => {
        const headers = contentType === undefined ? {} : { "content-type": contentType }
        const answer = await client.call(method, path, body, headers)
        expect(answer.status).toBe(422)
        const found = answer.body.detail.map((error: any) =>
          error.type === "json_invalid" ? `json_invalid ${error.loc[0]}` : `${error.type} ${error.loc.join(".")}`
        )
        expect(found).toEqual(errors)
        if (first !== undefined) expect(answer.body.detail[0]).toEqual(first)
      }
    )

    it("echoes values with all their digits, up to 1 KiB of JSON", async () => {
      const echo = async (value: string) => (await client.put("/api/v1/agents", `{"agent_name":${value}}`)).text
      expect(await echo(`{"n": [1.0, 9007199254740993, 1e400, -0]}`)).toContain(
        `"input":{"n":[1.0,9007199254740993,1e400,-0]}`
      )
      const ofSize = (bytes: number) => `["${"x".repeat(bytes - 4)}"]`
      expect(await echo(ofSize(1_024))).toContain(`"input":${ofSize(1_024)}`)
      expect(await echo(ofSize(1_025))).toContain(`"input":"<1025 bytes of JSON>"`)
      // The limit counts UTF-8 bytes, without white space between tokens.
      expect(await echo(` ${" ".repeat(2_000)}[ 1 ]`)).toContain(`"input":[1]`)
      expect(await echo(`["${"é".repeat(511)}"]`)).toContain(`"input":"<1026 bytes of JSON>"`)
      expect(await echo(`${"[".repeat(10_001)}${"]".repeat(10_001)}`)).toContain(`"input":"<20002 bytes of JSON>"`)
      const { body } = await client.put("/api/v1/agents", `{"agent_name":1,"agent_name":[1],"agent_name":[2]}`)
      expect(body.detail[0].input).toEqual([2])
    })

    it("rejects bytes that are not UTF-8, and accepts a byte order mark", async () => {
      const send = async (...bytes: ReadonlyArray<number>) => {
        const request = new Request("http://localhost/api/v1/agents", {
          method: "PUT",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: Uint8Array.from(bytes)
        })
        const answer = await served.fetch(request)
        const body: any = await answer.json()
        return [answer.status, body.detail?.[0]?.type ?? body.agent_name]
      }
      const text = Array.from(new TextEncoder().encode(`{"agent_name":"?"}`))
      const position = text.indexOf("?".charCodeAt(0))
      for (const wrong of [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
        expect(await send(...text.with(position, wrong[0]!).toSpliced(position + 1, 0, ...wrong.slice(1)))).toEqual([
          422,
          "json_invalid"
        ])
      }
      expect(await send(0xef, 0xbb, 0xbf, ...text)).toEqual([200, "?"])
    })

    it("reports at most 1,000 errors, and does not scan the body again for each", async () => {
      const wrong = Array.from({ length: 40_000 }, (_, n) => `"k${n}":${n}`).join(",")
      const body = `{"language":"l","language_version":"v","system":"s","all_packages":{${wrong}}}`
      const answer = await client.put("/api/v1/fingerprints", body)
      expect(answer.status).toBe(422)
      expect(answer.body.detail).toHaveLength(1_000)
      expect(answer.body.detail[999]).toMatchObject({ loc: ["body", "all_packages", "k999"], input: 999 })
    })

    it("rejects a body that is too large, or in an unknown encoding, before it validates the path", async () => {
      const path = `/api/v1/agents/${"x".repeat(300)}/agent-versions`
      const answer = await client.put(path, `{"x":"${"x".repeat(33 * 1024 * 1024)}"}`)
      expect([answer.status, answer.body]).toEqual([413, { type: "payload-too-large" }])
      const coded = await client.call("PUT", path, "{}", { "content-encoding": "compress" })
      expect([coded.status, coded.body]).toEqual([415, { type: "unsupported-content-encoding" }])
    })
  })
})
