import { describe, expect, it } from "vitest"
import * as ProxyPath from "../../src/proxy/ProxyPath.ts"

describe("ProxyPath.match", () => {
  it.each([
    ["/proxy/openai/chat/completions?a=/b", "openai", "/chat/completions?a=/b"],
    ["/proxy/openai", "openai", ""],
    ["/proxy/openai?x", "openai", "?x"],
    ["/proxy", "", ""],
    ["/proxy?x", "", "?x"],
    ["/proxy/", "", ""],
    ["/proxy//evil.example/x", "", "/evil.example/x"]
  ])("reads %s", (url, name, rest) => {
    expect(ProxyPath.match(url)).toEqual({ name, rest })
  })

  it.each(["/proxyopenai/x", "/api/v1/events", "", undefined])("leaves %s to others", (url) => {
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
    "/%u002e%u002e/admin",
    "/%U002E./admin",
    "/%25u002e%25u002e/admin",
    "/a%u002f..%u005cb",
    "/..%20/admin",
    "/%20../admin",
    "/..%09",
    "/..%0d%0a/admin",
    "/.%00./admin",
    "/..%00.json",
    "/..%ff/admin",
    "/..%c2%a0/admin",
    "/.%e2%80%8b./admin",
    "/%ef%bc%8e%ef%bc%8e/admin",
    "/\xef\xbc\x8e\xef\xbc\x8e/admin",
    "/%uff0e%uff0e/admin",
    "/%e2%80%a5/admin",
    "/a%ef%bc%8f..%ef%bc%bcb",
    "/..%ef%bc%9bx/admin",
    "/%ef%bc%852e./admin",
    "/%c0%ae%c0%ae/admin",
    "/%e0%80%ae./admin",
    "/a%c0%af..%c1%9cb",
    "/..%3fx/admin",
    "/..%23",
    "/%%32%65%%32%65/admin",
    "/%25%32%65%252e/admin",
    "/%2525252525252e./admin",
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
    "/%F0%9F%8D%8E",
    "/.../x",
    "/..foo/.foo",
    "/%2e%2efoo",
    "/v1.2/models/gpt-4.1",
    "/v1%2e2/a%20b/c.",
    "/a%20../b%20.%20c",
    "/%E2%80%A6/%e4%bd%a0%e5%a5%bd",
    "/%ff",
    "/%zz/%u00/%",
    "/a%3f../b"
  ])("passes %j", (rest) => {
    expect(ProxyPath.isHostile(rest)).toBe(false)
  })
})
