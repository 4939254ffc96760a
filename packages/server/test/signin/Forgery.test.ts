/** What nobody may sign in with. */
import { generateKeyPairSync } from "node:crypto"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import * as Seal from "../../src/signin/Seal.ts"
import { apiKey, start } from "./Served.ts"
import { clientSecret } from "./OidcProvider.ts"
import { Visitor } from "./Visitor.ts"

const cookie = "__Host-tachograph"
const loginCookie = `${cookie}-login`

/** Expects that a request to come back signs nobody in. */
const expectRefused = async (visitor: Visitor, back: string, status: number) => {
  const answer = await visitor.ask(back)
  expect(answer.status).toBe(status)
  expect(answer.headers.getSetCookie().filter((line) => line.startsWith(`${cookie}=`))).toEqual([])
  expect((await visitor.api("GET", "/me")).status).toBe(401)
  return answer.text
}

describe("coming back from the provider", () => {
  it("works once", async () => {
    const { url } = await start()
    const ann = new Visitor(url)
    const back = await ann.comeBackAs("ann")
    const thief = new Visitor(url, ann.cookies)
    expect((await ann.ask(back)).status).toBe(302)
    // The same browser has spent its cookie. A copy of it has the code again, which the provider refuses.
    await expectRefused(
      new Visitor(
        url,
        Array.from(ann.cookies).filter(([name]) => name !== cookie)
      ),
      back,
      400
    )
    expect(await expectRefused(thief, back, 403)).toContain("invalid_grant")
  })

  it("needs the browser that went there, with the same state", async () => {
    const { url } = await start()
    const [ann, mal] = [new Visitor(url), new Visitor(url)]
    const back = await ann.comeBackAs("ann")
    await expectRefused(new Visitor(url), back, 400)
    // What a page of the attacker could make the browser of somebody else do.
    const ofMal = await mal.comeBackAs("cas")
    const cookies = Array.from(ann.cookies)
    await expectRefused(new Visitor(url, cookies), ofMal, 403)
    const altered = new URL(back)
    altered.searchParams.set("state", "x".repeat(43))
    await expectRefused(new Visitor(url, cookies), altered.href, 403)
    altered.searchParams.delete("state")
    await expectRefused(new Visitor(url, cookies), altered.href, 403)
    const elsewhere = new URL(back)
    elsewhere.searchParams.set("iss", "https://elsewhere.example")
    await expectRefused(new Visitor(url, cookies), elsewhere.href, 403)
    await expectRefused(new Visitor(url, cookies), `${url}/callback`, 403)
    expect((await ann.ask(back)).status).toBe(302)
  })

  it("shows and logs no text of the query or the provider, but the errors of the protocol", async () => {
    const { output, provider, url } = await start()
    const ann = new Visitor(url)
    const refusedBy = async (error: string) => {
      const back = new URL(await ann.comeBackAs("ann"))
      back.searchParams.delete("code")
      back.searchParams.set("error", error)
      return expectRefused(ann, back.href, 403)
    }
    provider.forge = (answer) => ({ ...answer, error: "from_the_token" })
    const texts = [
      await refusedBy("<b>from_the_query"),
      await refusedBy("access_denied"),
      await expectRefused(ann, await ann.comeBackAs("ann"), 403)
    ]
    const logged = Object.values(output()).join("")
    expect(texts.join("") + logged).not.toMatch(/from_the|<b>/)
    const reasons = texts.map((text) => /not to be trusted: (.*)\./.exec(text)?.[1])
    expect(reasons).toEqual(["an unknown error", "access_denied", "an unknown error"])
    expect(logged).toMatch(/A sign-in was refused: access_denied/)
  })
})

describe("the cookie", () => {
  it("opens nothing where it is altered, made elsewhere, or that of another use", async () => {
    const { url } = await start()
    const ann = new Visitor(url)
    await ann.comeBackAs("ann")
    const begun = ann.cookies.get(loginCookie)!
    await ann.signIn("ann")
    const good = ann.cookies.get(cookie)!
    const statusWith = async (value: string) => (await new Visitor(url, [[cookie, value]]).api("GET", "/me")).status
    expect(await statusWith(good)).toBe(200)
    const altered = Array.from({ length: good.length }, (_, at) => {
      const other = good[at] === "A" ? "Q" : "A"
      return good.slice(0, at) + other + good.slice(at + 1)
      // The last digit may have bits that count for nothing.
    }).slice(0, -1)
    const own = Seal.make(Redacted.make(clientSecret))
    const others = Seal.make(Redacted.make("another secret"))
    const content = own.open("session", good)!
    const forged = [
      ...altered,
      ...["", "x", good.slice(1), good.slice(0, -4), begun, apiKey],
      ...[others.seal("session", content), own.seal("login", content), own.seal("session", "")],
      ...[content, own.seal("session", `signin_x ${apiKey.slice(0, -1)}`)]
    ]
    for (const value of forged) expect([value, await statusWith(value)]).toEqual([value, 401])
  })
})

describe("a token that is not the provider's, or not for this", () => {
  const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey
  const long = 3_600
  const now = () => Math.floor(Date.now() / 1_000)
  const wrong: ReadonlyArray<readonly [what: string, claims: () => Record<string, unknown>, key?: typeof other]> = [
    ["has another issuer", () => ({ iss: "https://elsewhere.example" })],
    ["has another audience", () => ({ aud: "another client" })],
    ["has several audiences and another authorized party", () => ({ aud: ["tachograph", "x"], azp: "x" })],
    ["has another nonce", () => ({ nonce: "another nonce" })],
    ["has no nonce", () => ({ nonce: undefined })],
    ["has expired", () => ({ iat: now() - 2 * long, exp: now() - long })],
    ["is of a time to come", () => ({ iat: now() + 90, exp: now() + long })],
    ["says not who it is", () => ({ sub: "" })],
    ["is signed by another key", () => ({}), other]
  ]

  it.for(wrong)("signs nobody in where it %s", async ([, claims, key]) => {
    const { provider, url } = await start({ isGroupsInToken: true })
    const forge = (change: (token: string) => string) => {
      provider.forge = (answer) => ({ ...answer, id_token: change(String(answer["id_token"])) })
    }
    const ann = new Visitor(url)
    forge((token) => provider.signed(token, claims(), key))
    await expectRefused(ann, await ann.comeBackAs("ann"), 403)
    // The same way signs in with what is right, by a clock that is ahead.
    forge((token) => provider.signed(token, { iat: now() + 30 }))
    await ann.signIn("ann")
  })

  it("signs nobody in where it has no signature, or its claims were altered under it", async () => {
    const { provider, url } = await start({ isGroupsInToken: true })
    const ann = new Visitor(url)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const changes: ReadonlyArray<(token: string) => string | undefined> = [
      (token) => `${encode({ alg: "none" })}.${token.split(".")[1]}.`,
      (token) => {
        const [header, payload, signature] = token.split(".")
        const claims = JSON.parse(Buffer.from(payload!, "base64url").toString())
        return `${header}.${encode({ ...claims, groups: ["cn=ops,ou=groups"] })}.${signature}`
      },
      () => undefined,
      () => "not a token"
    ]
    for (const change of changes) {
      provider.forge = (answer) => ({ ...answer, id_token: change(String(answer["id_token"])) })
      await expectRefused(ann, await ann.comeBackAs("ann"), 403)
    }
  })
})
