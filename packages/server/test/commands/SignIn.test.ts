import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { run, temporaryFolder } from "../TachographProcess.ts"

const secret = "a secret of a client"
const env = { TACHOGRAPH_OIDC_CLIENT_SECRET: secret }
const complete = [
  ...["--storage", "memory:", "--oidc-issuer", "https://id.example.com", "--oidc-client-id", "tachograph"],
  ...["--oidc-url", "https://tachograph.example.com", "--oidc-group", "staff=read"]
]

const without = (name: string) => complete.filter((_, at) => complete[at] !== name && complete[at - 1] !== name)

const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: string]> = [
  [without("--oidc-client-id"), "--oidc-client-id is missing"],
  [without("--oidc-group"), "--oidc-issuer needs --oidc-group"],
  [[...without("--oidc-url"), "--port", "0"], "--oidc-url is missing"],
  [[...without("--oidc-url"), "--host", "0.0.0.0"], "--oidc-url is missing"],
  [without("--oidc-issuer"), "--oidc-client-id needs --oidc-issuer"],
  [[...complete, "--viewer", "off"], "needs the viewer"],
  [[...complete, "--oidc-group", "staff"], '--oidc-group has "staff"'],
  [[...complete, "--oidc-group", "staff=all"], '--oidc-group has "staff=all"'],
  [[...complete, "--oidc-group", "=read"], '--oidc-group has "=read"'],
  [[...complete, "--oidc-scope", "profile"], "--oidc-scope must have openid"],
  [[...complete, "--oidc-session", "31d"], "--oidc-session"],
  ...["http://id.example.com", "id.example.com", "https://id.example.com/?a", "https://a:b@id.example.com"].map(
    (issuer) => [[...without("--oidc-issuer"), "--oidc-issuer", issuer], "an address with https"] as const
  ),
  [[...without("--oidc-url"), "--oidc-url", "http://tachograph.example.com"], "an address with https"],
  [[...complete, "--oidc-client-secret-file", "/nowhere"], "The file of the client secret /nowhere cannot be used"]
]

it.each(cases)("serve %j: %s", async (args, message) => {
  expectUsageError(await runInProcess(["serve", ...args], env), message)
})

it("takes the secret from the environment or a file, and from nowhere else", async () => {
  const message = "--oidc-issuer needs TACHOGRAPH_OIDC_CLIENT_SECRET, or --oidc-client-secret-file"
  expectUsageError(await runInProcess(["serve", ...complete]), message)
  const empty = join(temporaryFolder(), "secret")
  writeFileSync(empty, "\n")
  const args = ["serve", ...complete, "--oidc-client-secret-file", empty]
  expectUsageError(await runInProcess(args), "cannot be used: it is empty")
  const { code, stdout } = await run(["serve", "--oidc-client-secret", secret])
  expect(code).toBe(2)
  expect(stdout).not.toContain(secret)
})
