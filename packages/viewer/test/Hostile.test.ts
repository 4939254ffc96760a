import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { goTo, openWithKey, useBrowser } from "./Browser.ts"
import { Conversation, registered, result, text, thinking, tool, user } from "./Conversation.ts"
import { apiKey, type Server, start } from "./Server.ts"
import * as Spans from "./Spans.ts"

useBrowser()
let server: Server
let fingerprintId: string
beforeAll(async () => {
  server = await start()
  fingerprintId = await registered(server.client)
})
afterAll(() => server.close())

/** A server that is asked by no page. */
const elsewhere = "http://elsewhere.invalid"

const payloads = {
  "a script": `<script>window.hacked = true</script>`,
  "an image with a handler": `<img src=x onerror="window.hacked = true">`,
  "an image from elsewhere": `<img src="${elsewhere}/pixel.png">`,
  "an image in Markdown": `![alt](${elsewhere}/pixel.png)`,
  "an image by reference": `![alt][1]\n\n[1]: ${elsewhere}/pixel.png`,
  "a link that runs": `[click](javascript:window.hacked=true)`,
  "a link that runs, disguised": `[click](  jAvAsCrIpT:window.hacked=true) <javascript:window.hacked=true>`,
  "a link with data": `[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  "a frame": `<iframe src="${elsewhere}"></iframe><object data="${elsewhere}"></object>`,
  "a style": `<style>@import url(${elsewhere}/x.css); body { display: none }</style><link rel=stylesheet href=${elsewhere}/y.css>`,
  "an image with a script": `![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)`,
  "the end of elements": `</div></main></body></html><form action=${elsewhere}><button>Enter the key</button></form>`,
  "a base": `<base href="${elsewhere}/"><meta http-equiv="refresh" content="0;url=${elsewhere}">`,
  "colours of a terminal": "\u001b[31mred\u001b[0m \u001b]8;;http://elsewhere.invalid\u0007link\u001b]8;;\u0007",
  "reversed text": "safe\u202Egnp.exe\u202C \u2066x\u2069 zero\u200Bwidth",
  "invisible characters": "a\u00ADb\u034Fc\u115Fd\u180Ee\u2800f\u3164g\u206Ah\uFFF9i\u{E0041}j\u{E0101}k\uFE0Fl",
  "a template": "{{constructor.constructor('window.hacked = true')()}} ${window.hacked = true}",
  "keys of objects": `{"__proto__": {"hacked": true}, "constructor": 1}`,
  "a table of links": `| a |\n|---|\n| [x](vbscript:msgbox) ![y](${elsewhere}/p.gif) |`,
  "deep Markdown": `${"> ".repeat(500)}deep ${"*".repeat(3_000)}`,
  "HTML in code": "```html\n<img src=x onerror=alert(1)>\n```\n`<b onclick=x>`"
} as const

const nameOf = (payload: string): string => payload.replaceAll("\u0000", "").slice(0, 200)

/** A session of its own, as spans tell it. */
const spansOf = (session: string): string => `spans of ${session}`

const recordSpans = (name: string, session: string, payload: string) => {
  const asked = Spans.says("assistant", Spans.asks("1", name, { [name]: payload }))
  const failed = {
    "gen_ai.tool.call.result": payload,
    "error.type": name,
    "error.message": payload,
    [payload]: payload
  }
  const place = { trace: 1, name, at: [0, 5] } as const
  return Spans.told(
    server.client,
    spansOf(session),
    [
      { ...place, id: 1, attributes: Spans.chat([Spans.says("user", Spans.text(payload))], asked) },
      { ...place, id: 2, parent: 1, attributes: Spans.ran(name, "1", failed) }
    ],
    { scope: payload, service: name }
  )
}

/** The payload wherever a stranger can put it. */
const record = async (session: string, payload: string) => {
  const name = nameOf(payload)
  const fields = { agent: name, agent_version: name, person: name }
  const { body } = await server.client.put("/api/v1/fingerprints", {
    language: payload,
    language_version: payload,
    system: payload,
    git_repository_url: payload,
    git_branch: payload,
    git_commit_hash: payload,
    all_packages: { [name]: payload, effect: payload }
  })
  const fingerprint = body.fingerprint_id as string
  await server.client.put("/api/v1/people", { person_id: name, properties: { [name]: payload } })
  const conversation = new Conversation(server.client, fingerprint, session, fields)
  conversation.model = name
  conversation.system = payload
  await conversation.call([user(payload)], [thinking(payload), text(payload), tool("1", name, { [name]: payload })])
  const id = await conversation.call([result("1", payload)], [text(payload)])
  await conversation.fail(user(payload), name)
  await recordSpans(name, session, payload)
  return { id, fingerprint }
}

/** What must not be on a page: everything that runs, that is loaded, or that sends. */
const injected = () => ({
  hacked: "hacked" in globalThis || "hacked" in {},
  elements: Array.from(
    document.querySelectorAll(
      "script:not([src^='./assets/']), iframe, object, embed, base, form:not([role=search]), style, meta[http-equiv]"
    ),
    ({ outerHTML }) => outerHTML
  ),
  handlers: Array.from(document.querySelectorAll("*")).flatMap((element) =>
    element.getAttributeNames().filter((name) => name.startsWith("on"))
  ),
  images: Array.from(document.images, ({ src }) => src).filter((src) => !/^data:image\/(png|jpeg|gif|webp);/.test(src)),
  links: Array.from(document.links, (link) => link.getAttribute("href")!).filter(
    (href) => !/^(#|\.\.\/docs|https?:|mailto:)/.test(href)
  ),
  unsafe: Array.from(document.links).filter(
    ({ hash, href, rel }) =>
      href.startsWith("http") && hash === "" && !href.startsWith(location.origin) && !rel.includes("noopener")
  ).length
})

/** Texts and titles that hold invisible characters. Runs in the page. */
const unseen = () => {
  const invisible = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u
  const texts = [document.title]
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode() !== null) texts.push(walker.currentNode.nodeValue!)
  for (const name of ["title", "alt", "aria-label", "placeholder"])
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name)!)
  return texts.filter((text) => invisible.test(text))
}

const nothing = { hacked: false, elements: [], handlers: [], images: [], links: [], unsafe: 0, unseen: [] }

const found = async (page: Page) => ({ ...(await page.evaluate(injected)), unseen: await page.evaluate(unseen) })

/** Visits each place, which has nothing of a payload but its text when it shows these elements. */
const visit = async (page: Page, places: ReadonlyArray<readonly [place: string, ...shows: ReadonlyArray<string>]>) => {
  for (const [place, ...shows] of places) {
    await goTo(page, `#/${place}`)
    for (const each of shows) await page.locator(each).first().waitFor()
    expect([place, await found(page)]).toEqual([place, nothing])
  }
}

const tabs = (id: string) =>
  ["new", "input", "answer", "settings", "json", "raw"].map(
    (tab) => [`events/${id}?tab=${tab}`, `.panel.${tab} :is(.message, .settings, .node, .raw-row)`] as const
  )

describe("what a stranger sent", () => {
  it("is shown as text", { timeout: 240_000 }, async () => {
    const { complaints, foreign, page } = await openWithKey(`${server.url}/viewer/`, apiKey)
    for (const [index, [name, payload]] of Object.entries(payloads).entries()) {
      const session = `${name} ${payload.slice(0, 100)}`
      const { fingerprint, id } = await record(session, payload)
      await goTo(page, `#/sessions/${encodeURIComponent(session)}`)
      await page.locator(".message.assistant").first().waitFor()
      // Opens what is folded, here and in what follows.
      if (index === 0) for (const key of ["x", "t"]) await page.keyboard.press(key)
      await page.locator(".fold").first().waitFor()
      expect([name, await found(page)]).toEqual([name, nothing])
      const own = encodeURIComponent(nameOf(payload))
      await visit(page, [
        ...tabs(id),
        [`sessions/${encodeURIComponent(spansOf(session))}`, ".call-mark .rebuilt", ".tool .fold"],
        [`agents/${own}`, ".prompts.tools tbody tr", ".configuration"],
        [`agents/${own}/compare?from=${own}&to=${own}`, ".settings"],
        [`people/${own}`, ".fold .value"],
        [`fingerprints/${fingerprint}?with=${fingerprintId}`, ".packages"],
        [`search?q=${encodeURIComponent(payload.slice(0, 12))}`, ".results li"]
      ])
      await goTo(page, `#/sessions/${encodeURIComponent(spansOf(session))}?view=timeline`)
      await page.locator("summary.span-line").click()
      await page.locator(".timeline .fold .value").waitFor()
      expect([name, await found(page)]).toEqual([name, nothing])
      expect([name, foreign, complaints]).toEqual([name, [], []])
    }
  })

  it("is shown as text where all of it is: in lists, previews and the palette", async () => {
    const all = Object.values(payloads).join("\n")
    const { id } = await record("all", all)
    const { complaints, foreign, page } = await openWithKey(`${server.url}/viewer/`, apiKey)
    await visit(page, [
      ["sessions", ".id"],
      ["agents", ".rows tbody tr"],
      ["people", ".rows tbody tr"],
      ["fingerprints", ".rows tbody tr"],
      ["overview", ".legend"],
      ["live", ".rows tbody tr"],
      [`live?peek=${id}`, ".peek .message"],
      ["sessions?peek=all", ".peek .message"]
    ])
    await page.keyboard.press("Control+k")
    await page.getByRole("option").filter({ hasText: "Agent" }).first().waitFor()
    expect(await found(page)).toEqual(nothing)
    expect([foreign, complaints]).toEqual([[], []])
  })

  it("shows characters that reorder text by name, and takes the colours of terminals out", async () => {
    await record("hidden", `${payloads["reversed text"]} ${payloads["colours of a terminal"]}`)
    const { page } = await openWithKey(`${server.url}/viewer/#/sessions/hidden`, apiKey)
    const said = page.locator(".message.user .said").first()
    await said.waitFor()
    const shown = await said.innerText()
    for (const name of ["U+202E", "U+202C", "U+2066", "U+2069", "U+200B"]) expect(shown).toContain(name)
    // Sequences that hold a text are shown with it; colours are taken out.
    expect(shown).toContain("red ")
    expect(shown).toContain("]8;;http://elsewhere.invalid")
    for (const hidden of ["\u001b", "[31m", "\u202e"]) expect(shown).not.toContain(hidden)
  })

  it("takes no class of the pages by the role of a message", async () => {
    const conversation = new Conversation(server.client, fingerprintId, "roles")
    await conversation.call([{ role: "peek user control", content: "Hello" }], [text("Yes?")])
    const { page } = await openWithKey(`${server.url}/viewer/#/sessions/roles`, apiKey)
    await page.locator(".message").getByText("Hello").waitFor()
    expect(await page.locator(".message.peek, .message.user, .message.control").count()).toBe(0)
  })

  it("shows images whose bytes were sent, and names others", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const conversation = new Conversation(server.client, fingerprintId, "images")
    const image = (source: object) => ({ type: "image", source })
    await conversation.call(
      [
        {
          role: "user",
          content: [
            image({ type: "base64", media_type: "image/png", data: png }),
            image({ type: "base64", media_type: "image/svg+xml", data: "PHN2Zy8+" }),
            image({ type: "url", url: `${elsewhere}/photo.png` })
          ]
        }
      ],
      [text("I see.")]
    )
    const { complaints, foreign, page } = await openWithKey(`${server.url}/viewer/#/sessions/images`, apiKey)
    await page.locator(".said img").waitFor()
    expect(await page.locator(".said img").count()).toBe(1)
    const named = await page.locator(".media").allInnerTexts()
    expect(named.some((each) => each.includes("image/svg+xml"))).toBe(true)
    expect(named.some((each) => each.includes("not loaded") && each.includes("elsewhere.invalid"))).toBe(true)
    expect([foreign, complaints]).toEqual([[], []])
  })
})
