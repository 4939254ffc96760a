import { expect, it } from "vitest"
import { misspelt } from "../../src/config/Setting.ts"
// Makes all settings.
import "../../src/Commands.ts"

it.each([
  ["TACHOGRAPH_UPSTREEM", "TACHOGRAPH_UPSTREAM"],
  ["TACHOGRAPH_UPSTREAMS", "TACHOGRAPH_UPSTREAM"],
  ["TACHOGRAPH_MAXBODY", "TACHOGRAPH_MAX_BODY"],
  ["TACHOGRAPH_STROAGE", "TACHOGRAPH_STORAGE"],
  ["TACHOGRAPH_PROXYOPEN", "TACHOGRAPH_PROXY_OPEN"]
])("says what %s should be", (written, meant) => {
  expect(misspelt({ [written]: "x" })).toEqual([`${written} is not known (did you mean ${meant}?)`])
})

it("takes no variable of the client, and none that Kubernetes sets, for one of the server", () => {
  const ofClient = ["URL", "API_KEY", "AGENT", "AGENT_VERSION", "SESSION", "PERSON", "SPOOL", "EXIT_MS"]
  const ofKubernetes = ["SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_4318_TCP", "PORT_4318_TCP_ADDR"]
  const names = [...ofClient, ...ofKubernetes].map((name) => `TACHOGRAPH_${name}`)
  expect(misspelt(Object.fromEntries(names.map((name) => [name, "x"])))).toEqual([])
  expect(misspelt({ UPSTREEM: "x", TACHOGRAPH_UPSTREAM: "x" })).toEqual([])
})
