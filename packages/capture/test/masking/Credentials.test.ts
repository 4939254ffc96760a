import { describe, expect, it } from "vitest"
import { credentialsOf, inJson, suspectsOf, withSuspects } from "../../src/masking/Credentials.ts"

const ofHeader = (name: string, value: string) => credentialsOf([[name, value]], [])

describe("the credentials of a request", () => {
  it.each([
    ...["Authorization", "Proxy-Authorization", "cf-aig-authorization", "x-api-key", "api-key", "X-Goog-Api-Key"],
    ...["Ocp-Apim-Subscription-Key", "X-Tachograph-Key", "x-amz-security-token", "Helicone-Auth", "x-access-key"],
    ...["apikey", "X-ApiKey", "x_api_key", "X-Goog-Iam-Authorization-Token"],
    ...["X-Auth-Key", "x-functions-key", "X-Password", "xApiKey", "APIKey", "api-key-2", "X-Client-Secret", "X-JWT"],
    ...["X-Master-Key", "X-Encryption-Key", "x-passphrase", "X-Amz-Credential", "X-ACCESSTOKEN", "x-dbpassword"],
    ...["x-openai-keys", "x-passkey", "x-pat", "x-otp", "x-goog-iap-jwt-assertion", "X-ApiKeys"]
  ])("are in %s", (name) => expect(ofHeader(name, "planted-key")).toEqual(["planted-key"]))

  it.each([
    "content-type",
    "idempotency-key",
    "x-cache-key",
    "monkey",
    "code",
    "x-auth-request-email",
    "x-tokens",
    "user-agent",
    "x-request-id",
    "anthropic-version"
  ])("are not in %s", (name) => expect(ofHeader(name, "planted-key")).toEqual([]))

  it.each([
    ...["key", "access_token", "api_key", "api-key", "apikey", "apiKey", "subscription-key", "auth_token"],
    ...["code", "pwd", "password", "clientSecret", "functions_key"],
    ...["sig", "X-Amz-Signature", "X-Goog-Signature", "X-Amz-Security-Token"]
  ])("are in the parameter %s", (name) => expect(credentialsOf([], [[name, "planted-key"]])).toEqual(["planted-key"]))

  it("are no other parameters, and no short values", () => {
    expect(credentialsOf([["x-api-key", "1234567"]], new URLSearchParams("q=some-words&key=short"))).toEqual([])
  })

  it("are all of a list", () => {
    const [one, two, three] = ["planted-one", "planted-two", "planted-three"]
    expect(ofHeader("x-goog-api-key", `${one}, ${two},${three}`).slice(1)).toEqual([three, one, two])
    expect(ofHeader("authorization", `Bearer ${one}, Bearer ${two}`).slice(1)).toEqual([one, two])
    expect(ofHeader("x-portkey-config", JSON.stringify({ api_keys: [one, { name: three }, [two]] }))).toEqual([
      two,
      one
    ])
  })

  it("are in Basic in UTF-8, and in Latin-1", () => {
    for (const encoding of ["utf8", "latin1"] as const) {
      const basic = Buffer.from("someone:pl\u00e4nted%25key", encoding).toString("base64")
      expect(ofHeader("authorization", `Basic ${basic}`)).toContain("pl\u00e4nted%25key")
    }
  })

  it("are not the schemes and names around them", () => {
    expect(ofHeader("authorization", "Authenticate planted-key=")).toEqual([
      "Authenticate planted-key=",
      "planted-key="
    ])
    const signed = `AWS4-HMAC-SHA256 Credential=AKIAPLANTED/x, SignedHeaders=content-type;host, Signature="0123456789"`
    expect(ofHeader("authorization", signed).slice(1)).toEqual(["content-type;host", "AKIAPLANTED/x", "0123456789"])
    const cookies = "plan=enterprise; csrf=planted-one; sessionid=planted two; id=q7Zk29fLwX0aTb83; planted-alone"
    expect(ofHeader("cookie", cookies).slice(1)).toEqual([
      "q7Zk29fLwX0aTb83",
      "planted-alone",
      "planted-one",
      "planted two"
    ])
  })

  it.each(["lm-studio", "not-needed", "sk-no-key-required", "your-api-key", "YOUR_API_KEY"])(
    "are not what stands for one: %s",
    (value) => {
      expect(ofHeader("authorization", `Bearer ${value}`)).toEqual([])
      expect(ofHeader("authorization", `Bearer ${value}-1`)).toContain(`${value}-1`)
    }
  )

  it("are behind a scheme in any header", () => {
    expect(ofHeader("x-mine", "Bearer planted-key")).toContain("planted-key")
  })

  it.each([
    [["planted-key"], "someone:planted-key"],
    [["planted-key"], "planted-key"],
    [["planted-key"], "planted-key:"],
    [["q7Zk29fLwX0aTb83", "x-planted"], "q7Zk29fLwX0aTb83:x-planted"]
  ])("are %j in Basic, whatever is the name", (expected, text) => {
    const found = ofHeader("authorization", `Basic ${btoa(text)}`)
    expect(found).toEqual(expect.arrayContaining(expected))
    expect(found).not.toContain("someone")
    expect(ofHeader("authorization", "Basic =no=base64")).toContain("=no=base64")
  })

  it("are in the JSON of a header, by their names there", () => {
    const config = { provider: "openai", targets: [{ api_key: "planted-key" }], note: "some ordinary words" }
    expect(ofHeader("x-portkey-config", JSON.stringify(config))).toEqual(["planted-key"])
    expect(ofHeader("x-portkey-config", "{no json")).toEqual([])
    expect(suspectsOf([["x-config", `{"inner":"q7Zk29fLwX0aTb83"}`]], [])).toContain("q7Zk29fLwX0aTb83")
  })

  it("may stand in a list", () => {
    expect(suspectsOf([["x-keys", "q7Zk29fLwX0aTb83, other"]], [])).toEqual(["q7Zk29fLwX0aTb83"])
    expect(suspectsOf([["x-openai", "q7Zk29fLwX0aTb83"]], [])).toEqual(["q7Zk29fLwX0aTb83"])
  })

  describe("may be in any other header or parameter", () => {
    const random = "q7Zk29fLwX0aTb83"

    it.each([random, `pre-${random}`, "4bf92f3577b34da6a3ce929d0e0e4736", `eyJhbGciOiJIUzI1NiJ9.${random}`])(
      "where the value looks random: %s",
      (value) => {
        expect(suspectsOf([["x-mine", value]], [])).toEqual([value])
        expect(suspectsOf([], [["t", value]])).toEqual([value])
      }
    )

    it.each([
      ...[
        "gpt-4o-mini-2024-07-18",
        "20240718T120000Z",
        "MyVeryLongApplicationName",
        "https://example.com/q7Zk29fLwX0aTb83"
      ],
      ...[
        "123e4567-e89b-12d3-a456-426614174000",
        "an answer with 12 words",
        "claude-code-20250219",
        "100000000000000000"
      ]
    ])("and not where it is %s", (value) => expect(suspectsOf([["x-mine", value]], [])).toEqual([]))

    it.each(["x-request-id", "X-Session", "traceparent", "content-md5", "idempotency-key", "x-user", "x-stainless-os"])(
      "and not in %s",
      (name) => expect(suspectsOf([[name, random]], [])).toEqual([])
    )

    it("counts where the body does not hold it", () => {
      const body = (text: string) => (part: string) => text.includes(part)
      expect(withSuspects(["planted"], [random], body("{}"))).toEqual([random, "planted"])
      expect(withSuspects(["planted"], [random], body(`{"user":"${random}"}`))).toEqual(["planted"])
    })
  })

  it("are the longest first, each once, with others that are known", () => {
    const headers = [
      ["x-api-key", "planted-key"],
      ["api-key", "planted-key"]
    ] as const
    expect(credentialsOf(headers, [["key", "planted-key-2"]], ["a-planted-password"])).toEqual([
      "a-planted-password",
      "planted-key-2",
      "planted-key"
    ])
  })

  it("may be written in several ways in JSON", () => {
    expect(inJson("planted-key", false)).toEqual(["planted-key"])
    expect(inJson("planted-key")).toContain("planted\\u002dkey")
    expect(inJson('planted"key')).toContain('planted\\"key')
    expect(inJson("planted/key")).toContain("planted\\/key")
    // As Go and .NET write them.
    expect(inJson("planted+<key")).toEqual(
      expect.arrayContaining(["planted+<key", "planted+\\u003ckey", "planted\\u002B\\u003Ckey"])
    )
    // As Gson writes them, and a writer that escapes all that can be.
    expect(inJson("planted_key=")).toEqual(
      expect.arrayContaining(
        ["planted_key\\u003d", "planted\\u005Fkey\\u003D", "\\u0070\\u006c\\u0061"].map((form) =>
          expect.stringContaining(form)
        )
      )
    )
    expect(inJson('planted"key')).toContain("planted\\u0022key")
    expect(inJson('planted"key')).toContain('planted\\\\\\"key')
  })

  it("may be percent-encoded, or not any more", () => {
    // The last ones as Python writes them, with slashes only, and as a part of a URL within a URL.
    const written = [
      ...["planted/key+", "planted%2Fkey%2B", "planted%2fkey%2b"],
      ...["planted/key%2B", "planted%2Fkey+", "planted%2fkey+", "planted%252Fkey%252B", "planted%252fkey%252b"]
    ]
    for (const credential of written.slice(0, -2)) expect(inJson(credential)).toEqual(expect.arrayContaining(written))
    expect(inJson("planted key")).toEqual(expect.arrayContaining(["planted%20key", "planted+key"]))
    expect(inJson("planted%zz")).toContain("planted%zz")
    expect(inJson("planted\ud800")).toContain("planted\\ud800")
    // A part that is percent-encoded and short is not looked for.
    expect(inJson("%61%62%63%64")).not.toContain("abcd")
  })
})
