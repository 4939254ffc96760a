/** The ways to record a program, each as the texts that a person copies. `docs/proxy.md`, `client.md` and `opentelemetry.md` have them at length. */
import type { Credential } from "./Credential.ts"

export interface Snippet {
  /** Where the text belongs. */
  readonly title: string
  readonly text: string
}

export interface Way {
  readonly id: string
  readonly name: string
  /** The upstream of the proxy that the calls pass; none for the other ways. */
  readonly upstream?: "openai" | "anthropic"
  readonly about: string
  /** A page of the documentation, and the anchor of the section there. */
  readonly docs: readonly [name: string, anchor: string, title: string]
  readonly snippets: (address: string, credential: Credential) => ReadonlyArray<Snippet>
}

const header = "X-Tachograph-Key"

/** What a program says of all its calls, after its key, each line so far from the margin. The languages write it alike. */
const ofProgram = (key: string, indent: string): string =>
  [`"${header}": ${key},`, `"X-Tachograph-Agent": "my-app",`, `"X-Tachograph-Agent-Version": "v1",`]
    .map((line) => indent + line)
    .join("\n")

/** Of a call: for JavaScript, and behind `#` for Python. */
const aboutCall = "The calls of a conversation have the same session, and the person whom it is for."
const ofCall = `{ "X-Tachograph-Session": "session-1", "X-Tachograph-Person": "ann" }`

const claudeCode: Way = {
  id: "claude-code",
  name: "Claude Code",
  upstream: "anthropic",
  about: "Claude Code says itself which session, sub-agent and version a call is of.",
  docs: ["proxy", "coding-agents", "Coding agents"],
  snippets: (address, { word }) => [
    {
      title: "In a shell",
      text: [
        `export ANTHROPIC_BASE_URL=${address}/proxy/anthropic`,
        `export ANTHROPIC_CUSTOM_HEADERS=${word(`${header}: `)}`,
        "claude"
      ].join("\n")
    }
  ]
}

const codex: Way = {
  id: "codex",
  name: "Codex",
  upstream: "openai",
  about: "Codex says itself of which agent, version and session a call is. OPENAI_API_KEY has the provider's key.",
  docs: ["proxy", "coding-agents", "Coding agents"],
  snippets: (address, { codexLine }) => [
    {
      title: "At the beginning of ~/.codex/config.toml",
      // No table: what follows in the file would belong to it.
      text: [
        `model_provider = "tachograph"`,
        ...[
          `name = "OpenAI through Tachograph"`,
          `base_url = "${address}/proxy/openai"`,
          `env_key = "OPENAI_API_KEY"`,
          codexLine(header)
        ].map((line) => `model_providers.tachograph.${line}`),
        `# Beside the key, "X-Tachograph-Person" = "ann" says for whom the calls are.`
      ].join("\n")
    }
  ]
}

const openai: Way = {
  id: "openai",
  name: "OpenAI's SDK",
  upstream: "openai",
  about: "Two options of the client: calls pass the proxy, which records them. OPENAI_API_KEY has the provider's key.",
  docs: ["proxy", "programs", "More programs"],
  snippets: (address, { js, python, pythonImports }) => [
    {
      title: "JavaScript",
      text: `import OpenAI from "openai"

const client = new OpenAI({
  baseURL: "${address}/proxy/openai",
  defaultHeaders: {
${ofProgram(js, "    ")}
  }
})
// ${aboutCall}
const headers = ${ofCall}
const answer = await client.responses.create({ model: "gpt-5", input: "Hello" }, { headers })
console.log(answer.output_text)`
    },
    {
      title: "Python",
      text: `${pythonImports}from openai import OpenAI

client = OpenAI(
    base_url="${address}/proxy/openai",
    default_headers={
${ofProgram(python, "        ")}
    },
)
# ${aboutCall}
headers = ${ofCall}
answer = client.responses.create(model="gpt-5", input="Hello", extra_headers=headers)
print(answer.output_text)`
    }
  ]
}

const anthropic: Way = {
  id: "anthropic",
  name: "Anthropic's SDK",
  upstream: "anthropic",
  about:
    "Two options of the client: calls pass the proxy, which records them. ANTHROPIC_API_KEY has the provider's key.",
  docs: ["proxy", "programs", "More programs"],
  snippets: (address, { js, python, pythonImports }) => [
    {
      title: "JavaScript",
      text: `import Anthropic from "@anthropic-ai/sdk"

const client = new Anthropic({
  baseURL: "${address}/proxy/anthropic",
  defaultHeaders: {
${ofProgram(js, "    ")}
  }
})
// ${aboutCall}
const headers = ${ofCall}
const messages = [{ role: "user", content: "Hello" }]
const answer = await client.messages.create({ model: "claude-sonnet-5", max_tokens: 100, messages }, { headers })
console.log(answer.content)`
    },
    {
      title: "Python",
      text: `${pythonImports}from anthropic import Anthropic

client = Anthropic(
    base_url="${address}/proxy/anthropic",
    default_headers={
${ofProgram(python, "        ")}
    },
)
# ${aboutCall}
headers = ${ofCall}
answer = client.messages.create(
    model="claude-sonnet-5",
    max_tokens=100,
    messages=[{"role": "user", "content": "Hello"}],
    extra_headers=headers,
)
print(answer.content)`
    }
  ]
}

const install: Snippet = {
  title: "Once: install the client",
  text: `# In the root of a clone of Tachograph
npx pnpm@12.21.0 install --frozen-lockfile
npx tsc -b packages/client
npx pnpm@12.21.0 -r --filter-prod "@tachograph/client..." pack --pack-destination ~/recorded/vendor

# In the root of your application, such as ~/recorded
npm install ./vendor/tachograph-*.tgz`
}

const fetching: Way = {
  id: "fetch",
  name: "recorder.fetch",
  about:
    "For JavaScript: the client observes fetch below the provider's SDK, and records in the background. It is on no registry: install it from a clone.",
  docs: ["client", "", "The client, and how to install it"],
  snippets: (address, { js }) => [
    install,
    {
      title: "JavaScript",
      text: `import { createRecorder } from "@tachograph/client"
import OpenAI from "openai"

const recorder = createRecorder({ url: "${address}", apiKey: ${js}, agent: "my-app" })
const client = new OpenAI({ fetch: recorder.fetch })
const answer = await client.chat.completions.create({
  model: "gpt-5",
  messages: [{ role: "user", content: "Hello" }]
})
console.log(answer.choices[0].message.content)`
    }
  ]
}

const importing: Way = {
  id: "import",
  name: "--import",
  about:
    "For a program in JavaScript that stays as it is: the same client, by an option of Node. app.js is your program. The client is on no registry: install it from a clone.",
  docs: ["client", "without-code", "Without code: tsx, Bun, Deno"],
  snippets: (address, { word }) => [
    install,
    {
      title: "In a shell",
      text: [
        `export TACHOGRAPH_URL=${address}`,
        `export TACHOGRAPH_API_KEY=${word("")}`,
        "export TACHOGRAPH_AGENT=my-app",
        "node --import @tachograph/client/register app.js"
      ].join("\n")
    }
  ]
}

const openTelemetry: Way = {
  id: "opentelemetry",
  name: "OpenTelemetry",
  about: "For a program that emits OpenTelemetry already: set these, and start it as before.",
  docs: ["opentelemetry", "", "What each instrumentation tells"],
  snippets: (address, { encodedWord }) => [
    {
      title: "In a shell",
      text: [
        `export OTEL_EXPORTER_OTLP_ENDPOINT=${address}/otlp`,
        `export OTEL_EXPORTER_OTLP_HEADERS=${encodedWord("Authorization=Bearer%20")}`,
        "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
      ].join("\n")
    }
  ]
}

const curl: Way = {
  id: "curl",
  name: "curl",
  about: "An invented call, to see one recorded. Any program can send its calls so, after each of them.",
  docs: ["events", "", "Every field of an event"],
  snippets: (address, { word }) => [
    {
      title: "In a shell",
      text: `API=${address}/api/v1
AUTH=${word("Authorization: Bearer ")}
JSON="Content-Type: application/json"
FINGERPRINT=$(curl -sS -X PUT $API/fingerprints -H "$AUTH" -H "$JSON" \\
  -d '{"language": "shell", "language_version": "5", "system": "linux"}' | cut -d '"' -f 4)
curl -sS $API/events -H "$AUTH" -H "$JSON" -d '{
  "event_name": "llm",
  "fingerprint_id": "'$FINGERPRINT'",
  "session": "session-1", "agent": "my-app", "agent_version": "v1", "person": "ann",
  "properties": {
    "api": "anthropic-messages",
    "inputs": {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello"}]},
    "output": {
      "model": "claude-sonnet-4-5", "role": "assistant", "content": [{"type": "text", "text": "Hi!"}],
      "usage": {"input_tokens": 8, "output_tokens": 5}
    }
  }
}'`
    }
  ]
}

export const ways: ReadonlyArray<Way> = [claudeCode, codex, openai, anthropic, fetching, importing, openTelemetry, curl]
