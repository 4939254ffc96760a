import * as ShortRun from "../ShortRun.ts"

// Over Postgres, the tests of the server's workers kill processes and end them by SIGTERM under load.
ShortRun.define("postgres", 3, ["kill9", "sigterm"])
