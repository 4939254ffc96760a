/**
 * The rooms of the packages and the imports between them. A room is a folder of `src`, or a file beside the folders that
 * they import. Each list is in order from bottom to top: a room imports only rooms that precede it. Files of `src` that are
 * not listed are at the top: they import any room, and no room imports them.
 */
import { posix } from "node:path"

export interface Room {
  readonly name: string
  /** A sentence for the message of the lint rule. */
  readonly purpose: string
  /** Rooms of the same package. A room may always import its own files, but not those of its subfolders. */
  readonly imports: ReadonlyArray<string>
}

const room = (name: string, purpose: string, ...imports: ReadonlyArray<string>): Room => ({ name, purpose, imports })

export const roomsByPackage: Readonly<Record<string, ReadonlyArray<Room>>> = {
  formats: [
    room("Format.ts", "Format.ts is what each format implements."),
    room("json", "json reads JSON as it came.", "Format.ts"),
    room("stream", "stream cuts a body into payloads.", "Format.ts", "json"),
    room("usage", "usage counts tokens, in every format and dialect.", "Format.ts", "json"),
    room("facts", "facts is what every format says in the same words: errors, providers, costs.", "Format.ts", "json"),
    room("normal", "normal is the normal form of conversations, whatever the format.", "Format.ts", "json"),
    room("anthropic", "anthropic reads messages.", "Format.ts", "json", "stream", "usage", "facts", "normal"),
    room("google", "google reads models and interactions.", "Format.ts", "json", "stream", "usage", "facts", "normal"),
    room(
      "openai",
      "openai reads chat completions, in which others count as they do in their own formats, and responses.",
      ...["Format.ts", "json", "stream", "usage", "facts", "normal", "anthropic"]
    ),
    room(
      "aisdk",
      "aisdk reads the calls of the AI SDK, which has what providers say in its own words.",
      ...["Format.ts", "json", "stream", "usage", "facts", "normal", "anthropic", "google"]
    ),
    room(
      "spans",
      "spans reads the attributes of spans, in which emitters have what any of the others has.",
      ...["Format.ts", "json", "stream", "usage", "facts", "normal", "anthropic", "google", "openai", "aisdk"]
    ),
    room("bedrock", "bedrock reads the frames of AWS and Converse.", "Format.ts", "json", "stream", "usage")
  ],
  capture: [
    room("PercentDecoding.ts", "PercentDecoding.ts decodes URLs."),
    room("masking", "masking leaves out of texts what is not to be recorded.", "PercentDecoding.ts"),
    room("Failures.ts", "Failures.ts says why an answer broke off."),
    room("spans", "spans makes calls of what OpenTelemetry tells.", "masking", "Failures.ts")
  ],
  client: [
    room("api/generated", "api/generated is what the contract says."),
    room("api", "api calls every operation of the interface; it knows nothing of recording.", "api/generated"),
    room("platform", "platform is what differs between runtimes, and time."),
    room("fingerprint", "fingerprint describes the environment of the application.", "platform"),
    room("event", "event builds events; it knows neither calls under way nor the server.", "platform"),
    room("context", "context is what surrounds a call.", "platform", "event"),
    room("aisdk", "aisdk listens to the telemetry of the AI SDK.", "platform", "event", "context"),
    room("delivery", "delivery sends events; it must not import tap.", "platform", "api"),
    room("spool", "spool keeps events in files; it must not send them.", "platform"),
    room("tap", "tap observes calls of fetch; it hands over what it saw.", "platform", "event", "delivery"),
    room("Options.ts", "Options.ts is what a recorder can be told.", "api", "fingerprint", "event", "delivery")
  ],
  viewer: [
    room("Asset.ts", "Asset.ts is what the pages consist of."),
    room("generated", "generated is what scripts/build.ts writes.", "Asset.ts")
  ],
  prices: [
    room("Usage.ts", "Usage.ts is what a price depends on."),
    room("Rates.ts", "Rates.ts multiplies.", "Usage.ts"),
    room("PriceFile.ts", "PriceFile.ts reads prices of one's own.")
  ],
  core: [
    room("telemetry", "telemetry holds metrics and spans."),
    room("Throttle.ts", "Throttle.ts paces background work."),
    room("Pause.ts", "Pause.ts lets background work wait."),
    room("Lazy.ts", "Lazy.ts loads what is first needed later."),
    room("Sorted.ts", "Sorted.ts searches sorted lists."),
    room("domain", "domain is what api takes into a browser."),
    room("audit", "audit makes the entries of the audit log.", "domain"),
    room("payload/format", "payload/format reads and writes the bytes that docs/format.md specifies."),
    room("payload/scan", "payload/scan finds pieces and facts in JSON text.", "domain", "payload/format"),
    room(
      "payload",
      "payload converts between texts and packs; it has no storage.",
      "Sorted.ts",
      "payload/format",
      "payload/scan"
    ),
    room("rollup", "rollup adds calls up; it has no storage.", "domain", "payload/format"),
    room(
      "storage",
      "storage is what passes the port to storages, in parts.",
      ...["domain", "payload/format", "payload", "rollup"]
    ),
    room("Storage.ts", "Storage.ts is the port to storages.", "domain", "storage"),
    room(
      "sessions",
      "sessions loads and caches what is known of a session.",
      ...["domain", "payload/format", "payload/scan", "payload", "storage", "Storage.ts"]
    ),
    room(
      "memory",
      "memory implements the storage port; record, read and erase reach it through Storage.ts.",
      ...["domain", "audit", "payload/format", "payload", "rollup", "storage", "Storage.ts", "sessions"]
    ),
    room("Resources.ts", "Resources.ts is what events name.", "domain", "payload/format", "storage", "Storage.ts"),
    room("facts", "facts reads what a call was, and prices it.", "Lazy.ts", "domain"),
    room("keys", "keys creates and verifies API keys.", "domain", "audit", "storage", "Storage.ts"),
    room(
      "record",
      "record commits events, through the storage port.",
      ...[
        "telemetry",
        "domain",
        "facts",
        "payload/format",
        "payload/scan",
        "payload",
        "storage",
        "Storage.ts",
        "sessions"
      ]
    ),
    room(
      "read",
      "read assembles stored events; it must not import record.",
      ...["telemetry", "domain", "audit", "payload/format", "payload", "storage", "Storage.ts", "sessions"]
    ),
    room(
      "follow",
      "follow finds events as they become visible; it must not import record.",
      ...["domain", "storage", "Storage.ts", "read"]
    ),
    room(
      "conversation",
      "conversation reads the calls of a session as messages; it must not import record.",
      ...[
        "Sorted.ts",
        "domain",
        "payload/format",
        "payload/scan",
        "payload",
        "rollup",
        "storage",
        "Storage.ts",
        "sessions",
        "read"
      ]
    ),
    room(
      "search",
      "search finds texts in what is stored; it must not import record.",
      ...["Sorted.ts", "domain", "payload/format", "payload", "storage", "Storage.ts", "read"]
    ),
    room(
      "erase",
      "erase deletes events and sweeps what they leave.",
      ...["Throttle.ts", "domain", "audit", "payload", "payload/format", "storage", "Storage.ts", "sessions", "record"]
    ),
    room(
      "export",
      "export reads all that a project has, and takes it back; it must not import record.",
      ...["domain", "payload/format", "storage", "Storage.ts", "read", "Resources.ts"]
    ),
    room(
      "derive",
      "derive adds up what was recorded, in the background.",
      "Throttle.ts",
      "Pause.ts",
      "domain",
      "storage",
      "Storage.ts",
      "record"
    ),
    room(
      "usage",
      "usage reads what events add up to.",
      ...["domain", "rollup", "storage", "Storage.ts", "read", "conversation", "derive"]
    ),
    room(
      "verify",
      "verify checks all that is stored, through the storage port, and reads events as read does.",
      ...["Sorted.ts", "Throttle.ts", "domain", "payload/format", "payload", "storage", "Storage.ts", "read"]
    ),
    room(
      "reindex",
      "reindex computes anew what is derived from events, and reads events as verify does.",
      ...[
        "Throttle.ts",
        "domain",
        "facts",
        "payload/format",
        "payload/scan",
        "storage",
        "Storage.ts",
        "read",
        "record",
        "derive",
        "verify"
      ]
    )
  ],
  router: [
    room("BasePath.ts", "BasePath.ts is configuration of front, engine and mounts."),
    room("response", "response encodes answers; it has no request."),
    room("TachographError.ts", "TachographError.ts is the error of calls in process.", "response"),
    room("validation", "validation converts schema issues to details of a 422."),
    room("calls", "calls makes events of calls that passed the proxy."),
    room("Engine.ts", "Engine.ts is the port between front and engine.", "response", "calls"),
    room("events", "events decodes and answers Create Event.", "response", "validation", "calls", "Engine.ts"),
    room(
      "otlp",
      "otlp makes events of what OpenTelemetry tells.",
      ...["response", "validation", "calls", "Engine.ts", "events"]
    ),
    room(
      "transfer",
      "transfer writes and reads the lines of exports.",
      "response",
      "validation",
      "Engine.ts",
      "events"
    ),
    room(
      "handlers",
      "handlers do what the endpoints of the contract say; front has judged their requests.",
      ...["response", "validation", "Engine.ts", "events", "otlp", "transfer", "../package.json"]
    ),
    room("engine", "engine runs the handlers.", "BasePath.ts", "response", "Engine.ts", "otlp", "handlers"),
    room(
      "engine/thread",
      "engine/thread runs the engine on a thread of its own.",
      ...["BasePath.ts", "response", "Engine.ts", "otlp", "handlers", "engine"]
    ),
    room(
      "front",
      "front judges requests; it must not import handlers or events: hand the exchange to the engine.",
      ...["BasePath.ts", "response", "validation", "calls", "Engine.ts", "engine"]
    ),
    room(
      "mounts",
      "mounts read and write bytes; they must not import the engine: hand the request to front.",
      ...["BasePath.ts", "response", "TachographError.ts", "validation", "events", "front"]
    ),
    room(
      "proxy",
      "proxy passes requests on to providers, before a mount; it records as calls in process do.",
      ...["BasePath.ts", "response", "TachographError.ts", "calls", "front", "mounts", "../package.json"]
    )
  ],
  "storage-sql": [
    room("SqlFailure.ts", "SqlFailure.ts makes errors of the database."),
    room("migrations", "migrations are released and independent of code that changes."),
    room("dialect", "dialect holds what differs between databases.", "SqlFailure.ts"),
    room("sql", "sql converts between rows and the domain.", "SqlFailure.ts", "migrations", "dialect"),
    room("names", "names maps projects and names to row numbers.", "SqlFailure.ts", "dialect", "sql"),
    room("space", "space counts the bytes of what is stored.", "dialect", "sql", "names"),
    room("account", "account reads counters beside what they count.", "dialect", "sql", "names", "space"),
    room("resources", "resources reads and writes everything but events.", "dialect", "sql", "names", "space"),
    room("filter", "filter finds events by the names that they have.", "dialect", "sql"),
    room(
      "read",
      "read queries events and packs; it must not import append.",
      ...["SqlFailure.ts", "dialect", "sql", "names", "filter"]
    ),
    room("rollup", "rollup keeps what events add up to.", "SqlFailure.ts", "dialect", "sql", "names"),
    room("usage", "usage reads what events add up to.", "dialect", "sql", "names", "filter", "rollup"),
    room("append", "append writes events.", "dialect", "sql", "names", "space", "rollup"),
    room(
      "erase",
      "erase deletes events and packs.",
      ...["dialect", "sql", "names", "space", "resources", "rollup", "filter", "append"]
    ),
    room("reindex", "reindex replaces facts of events.", "dialect", "sql", "names", "space", "rollup"),
    room("waiting", "waiting keeps parts of events that are not complete yet.", "dialect", "sql", "names", "read"),
    room("Migrations.ts", "Migrations.ts runs the migrations.", "migrations")
  ],
  server: [
    room("terminal", "terminal formats output of the command."),
    room("config", "config reads settings.", "terminal"),
    room("access", "access is how commands ask for what the contract offers.", "terminal", "config"),
    room("backup", "backup copies files of SQLite, and puts them back.", "terminal", "config"),
    room("http", "http is the Node server; it knows neither commands nor workers."),
    room("signin", "signin lets people sign in at a provider; it knows neither commands nor workers."),
    room("process", "process measures and tunes this process.", "../package.json"),
    room("workers", "workers distribute connections over processes.", "terminal", "config", "http"),
    room(
      "doctor",
      "doctor looks at what a server depends on; it changes nothing.",
      "../package.json",
      "terminal",
      "config"
    ),
    room(
      "commands",
      "commands are the subcommands of tachograph.",
      ...["terminal", "config", "access", "backup", "http", "signin", "process", "workers", "doctor"]
    ),
    room("Commands.ts", "Commands.ts assembles the commands.", "commands"),
    room(
      "Cli.ts",
      "Cli.ts runs a command line.",
      ...["../package.json", "terminal", "config", "workers", "commands", "Commands.ts"]
    )
  ],
  testkit: [
    room("Samples.ts", "Samples.ts is below checkers and cases."),
    room("HttpClient.ts", "HttpClient.ts is below the cases."),
    room("Payloads.ts", "Payloads.ts is below the cases."),
    room("OtlpPosts.ts", "OtlpPosts.ts is below the cases."),
    room("RandomJson.ts", "RandomJson.ts is below the cases."),
    room("TestSeed.ts", "TestSeed.ts is below the cases."),
    room("check", "check verifies what is stored; cases import checkers, not the reverse.", "Samples.ts"),
    room("storage", "storage holds the cases of StorageSuite.", "Samples.ts", "RandomJson.ts", "check"),
    room("verify", "verify holds the cases of VerifySuite.", "check"),
    room(
      "http",
      "http holds the cases of HttpSuite.",
      ...["HttpClient.ts", "OtlpPosts.ts", "Payloads.ts", "RandomJson.ts", "TestSeed.ts"]
    )
  ]
}

const isFile = (name: string) => posix.extname(name) !== ""

/** The files of a room, without those of its subfolders. */
export const filesOf = ({ name }: Pick<Room, "name">): string => (isFile(name) ? name : `${name}/*`)

export const messageOf = ({ imports, purpose }: Room): string =>
  `${purpose} It may import ${imports.length === 0 ? "no other room" : imports.join(", ")}.`

/** The path that a file of a room imports another file by. Both are relative to `src`. */
export const specifier = (from: Pick<Room, "name">, to: string): string => {
  const path = posix.relative(isFile(from.name) ? posix.dirname(from.name) : from.name, to)
  return path.startsWith(".") ? path : `./${path}`
}

/** A pattern of `no-restricted-imports` that rejects relative imports, except of the room itself and of its `imports`. */
export const patternOf = (room: Room): { readonly group: Array<string>; readonly message: string } => ({
  group: [
    "../**",
    isFile(room.name) ? "./**" : "./*/**",
    ...room.imports.map((name) => `!${specifier(room, filesOf({ name }))}`)
  ],
  message: messageOf(room)
})
