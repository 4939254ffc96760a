import { describe, expect, it } from "vitest"
import * as Paths from "../../src/front/Paths.ts"

const endpointOf = (method: string, url: string) => {
  const match = Paths.match(method, url)
  return match !== undefined && "route" in match ? match.route.endpoint : match
}

describe("Paths.match", () => {
  it("returns the endpoint, its parameters and the query", () => {
    expect(Paths.match("GET", "/api/v1/agents/a/agent-versions/b?x=%20&x=1?y")).toMatchObject({
      route: { endpoint: "getAgentVersion", scopes: expect.arrayContaining(["read"]), takesBody: false },
      params: { agent_name: "a", agent_version_name: "b" },
      query: "x=%20&x=1?y"
    })
  })

  it("marks Create Event, and no other endpoint, as recording", () => {
    expect(Paths.match("POST", "/api/v1/events")).toMatchObject({
      route: { endpoint: "createEvent", takesBody: true, isRecording: true },
      query: ""
    })
    expect(Paths.match("GET", "/api/v1/events")).toMatchObject({ route: { isRecording: false, takesBody: false } })
    expect(Paths.match("PUT", "/api/v1/agents")).toMatchObject({ route: { isRecording: false, takesBody: true } })
  })

  it("needs no key for pages and for the state of the server", () => {
    for (const url of ["/health", "/ready", "/metrics", "/openapi.json", "/docs"]) {
      expect(Paths.match("GET", url)).toMatchObject({ route: { scopes: undefined } })
    }
  })

  it("takes HEAD where it takes GET", () => {
    expect(endpointOf("HEAD", "/health")).toBe("health")
    expect(endpointOf("HEAD", "/api/v1/agents/a")).toBe("getAgent")
    expect(endpointOf("HEAD", "/api/v1/sessions/s")).toBe("getSession")
    expect(endpointOf("HEAD", "/api/v1/import")).toEqual(["OPTIONS", "POST"])
  })

  it("returns the sorted methods of a path that does not take the method", () => {
    expect(Paths.match("DELETE", "/api/v1/events")).toEqual(["GET", "HEAD", "OPTIONS", "POST"])
    expect(Paths.match("get", "/health")).toEqual(["GET", "HEAD", "OPTIONS"])
    expect(Paths.match("", "/docs")).toEqual(["GET", "HEAD", "OPTIONS"])
  })

  it.each([
    ["a%2Fb", "a/b"],
    ["%252F", "%2F"],
    ["%C3%A9", "é"],
    ["..", ".."],
    ["", ""],
    ["%", "%"],
    ["%ff", "%ff"]
  ])("decodes the segment %j once, and takes a malformed one literally", (segment, name) => {
    expect(Paths.match("GET", `/api/v1/agents/${segment}`)).toMatchObject({ params: { agent_name: name } })
  })

  it.each([
    "",
    "/",
    "/health/",
    "//health",
    "/Health",
    "/%68ealth",
    "/health;x",
    "/health#x",
    "/api/v1",
    "/api/v1/agents/a/",
    "/api/v1/./events",
    "/api/v1/agents/a/b",
    "/api/v1/agents/a/agent-versions/b/c",
    "/v1/agents/a"
  ])("returns undefined for %j, which is not normalised", (url) => {
    expect(Paths.match("GET", url)).toBeUndefined()
    expect(Paths.isOurs(url)).toBe(false)
  })
})

describe("Paths.isOurs", () => {
  it.each(["/health?x", "/api/v1/events", "/api/v1/people/%"])("is true for %j, whatever its method", (url) => {
    expect(Paths.isOurs(url)).toBe(true)
  })
})
