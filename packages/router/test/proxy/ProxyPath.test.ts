import { describe, expect, it } from "vitest"
import * as ProxyPath from "../../src/proxy/ProxyPath.ts"

describe("ProxyPath.match", () => {
  it.each([
    ["/proxy/openai/chat/completions?a=/b", "openai", "/chat/completions?a=/b"],
    ["/proxy/openai", "openai", ""],
    ["/proxy/openai?x", "openai", "?x"],
    ["/proxy/", "", ""],
    ["/proxy//evil.example/x", "", "/evil.example/x"]
  ])("reads %s", (url, name, rest) => {
    expect(ProxyPath.match(url)).toEqual({ name, rest })
  })

  it.each(["/proxy", "/proxyopenai/x", "/api/v1/events", "", undefined])("leaves %s to others", (url) => {
    expect(ProxyPath.match(url)).toBeUndefined()
  })
})

describe("ProxyPath.isHostile", () => {
  it.each([
    "/..",
    "/../admin",
    "/a/../../admin",
    "/a/./b",
    "/%2e%2e/admin",
    "/%2E%2e/admin",
    "/.%2e/admin",
    "/%252e%252e/admin",
    "/%25252e./admin",
    "/..%2fadmin",
    "/a%2F..%2Fadmin",
    "/..%5cadmin",
    "/..;/admin",
    "/..;x=y/admin",
    "/.;/admin",
    "/..%3b/admin",
    "/..%3B",
    "/%2e%2e%3bx/admin",
    "/%2e%252e%253b/admin",
    "//evil.example/x",
    "/\\evil.example",
    "/a#b",
    "/a b",
    "/a\r\nx: y",
    "/a\u0100"
  ])("refuses %j", (rest) => {
    expect(ProxyPath.isHostile(rest)).toBe(true)
  })

  it.each([
    "",
    "?key=value",
    "/",
    "/chat/completions",
    "/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    "/files/a..b/...",
    "/files/.hidden/..name",
    "/a@evil.example/x",
    "/a%2fb",
    "/a//b",
    "/a?x=../..&y=//",
    "/a%3b../b",
    "/...;/..a;/b;..",
    "/%F0%9F%8D%8E"
  ])("passes %j", (rest) => {
    expect(ProxyPath.isHostile(rest)).toBe(false)
  })
})
