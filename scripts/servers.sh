#!/usr/bin/env bash
# Runs a command together with a PostgreSQL, a MariaDB, a Redis, a memcached and a server that speaks MongoDB's
# protocol, for the tests of the store.
#
#   scripts/servers.sh run COMMAND…
#
# All servers are new, listen on this machine only, and are removed when the command ends; a server that already
# runs is not touched. The command finds their addresses in ICECORE_TEST_POSTGRES, ICECORE_TEST_MYSQL and
# ICECORE_TEST_MONGODB, and in ICECORE_TEST_AUTHORITY a file with the authority of the certificates of the first
# two. The files that ICECORE_TEST_POSTGRES_PID and ICECORE_TEST_MYSQL_PID name contain their process ids: a
# server that the command kills is started again. Missing servers are installed where that is allowed; the
# script exits with 75 if the first two can't be installed. The third is a Java program, built once; if that
# fails, it is left out. Redis and memcached, in ICECORE_TEST_REDIS and ICECORE_TEST_MEMCACHED, are left out
# likewise; Redis also has a socket and an encrypted port, which its own configuration reports.
# shellcheck disable=SC2317 # traps and arguments reach the functions
. "$(dirname "$0")/common.sh"

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then
    fail 'usage: scripts/servers.sh run COMMAND…'
fi
shift

PATH="$PATH:/usr/sbin"
for folder in /usr/lib/postgresql/*/bin; do
    PATH="$PATH:$folder"
done

packages=()
have initdb && have postgres || packages+=(postgresql)
have mariadbd && have mariadb-install-db || packages+=(mariadb-server-core mariadb-client-core)
if [ ${#packages[@]} -gt 0 ]; then
    say "This needs ${packages[*]}."
    install_packages "${packages[@]}" || exit_skipped "Not installed: ${packages[*]}."
    for folder in /usr/lib/postgresql/*/bin; do
        PATH="$PATH:$folder"
    done
fi

# Packages for the tests of backups, and of a Perl program that queues jobs. If they can't be installed, the tests
# report that they leave something out.
optional=()
have pg_dump && have pg_restore || optional+=(postgresql-client)
have mariadb-dump && have mariadb || optional+=(mariadb-client)
have mydumper || optional+=(mydumper)
for module in Pg MariaDB; do
    perl "-MDBD::$module" -e 1 2>/dev/null || optional+=("libdbd-${module,,}-perl")
done
# Redis and memcached, and the extensions that write to them.
have redis-server || optional+=(redis-server)
have memcached || optional+=(memcached)
for extension in redis memcached memcache; do
    php -m 2>/dev/null | grep -qx "$extension" || optional+=("php-$extension")
done
for library in illuminate-cache:Illuminate/Cache illuminate-queue:Illuminate/Queue \
    symfony-cache:Symfony/Component/Cache symfony-messenger:Symfony/Component/Messenger; do
    [ -e "/usr/share/php/${library#*:}/autoload.php" ] || optional+=("php-${library%%:*}")
done
for library in redis dalli sidekiq; do
    ruby -e "require '$library'" 2>/dev/null || optional+=("ruby-$library")
done
perl -MCache::Memcached -e 1 2>/dev/null || optional+=(libcache-memcached-perl)
perl -MCache::Memcached::Fast -e 1 2>/dev/null || optional+=(libcache-memcached-fast-perl)
if [ ${#optional[@]} -gt 0 ]; then
    install_packages "${optional[@]}" || say "Not installed: ${optional[*]}. What needs them is left out."
fi

# The servers refuse to run as root. They have a session of their own, so that Control-C at a terminal reaches
# the command only. Both programs replace themselves by the server, so the process id is the server's.
have setsid || exit_skipped 'setsid is missing: it is of util-linux'
as_server=(setsid)
# Makes a file readable for the servers.
give_to_server() { # FILE
    :
}
if [ "$(id -u)" -eq 0 ]; then
    have setpriv || exit_skipped 'setpriv is missing: it is of util-linux'
    as_server=(setsid setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all)
    give_to_server() {
        chown nobody:nogroup "$1"
    }
fi

command=
keepers=()
# Prints the id of a server's process. It changes when the server is started again.
pid_of() { # NAME
    cat "$folder/$1.process" 2>/dev/null || true
}
# Stops the command and all servers, and ends with the exit code so far.
stop_all() {
    local status=$? name keeper
    trap - EXIT
    trap '' HUP INT TERM
    [ -z "$command" ] || kill -- "-$command" 2>/dev/null || true
    : >"$folder/over"
    for name in postgres mariadb redis memcached mongodb; do
        # Requests an orderly end of all servers.
        kill -INT "$(pid_of "$name")" 2>/dev/null || true
        kill -TERM "$(pid_of "$name")" 2>/dev/null || true
    done
    for keeper in "${keepers[@]}"; do
        for _ in {1..100}; do
            kill -0 "$keeper" 2>/dev/null || break
            sleep 0.1
        done
    done
    for name in postgres mariadb redis memcached mongodb; do
        kill -KILL "$(pid_of "$name")" 2>/dev/null || true
    done
    for keeper in "${keepers[@]}"; do
        wait "$keeper" 2>/dev/null || true
    done
    rm -rf "$folder"
    exit "$status"
}
folder=$(mktemp -d)
trap stop_all EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
give_to_server "$folder"

is_open() { # PORT
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

free_port() {
    local port
    for _ in {1..50}; do
        port=$((20000 + RANDOM % 12000))
        if ! is_open "$port"; then
            printf '%s' "$port"
            return
        fi
    done
    fail 'no port is free'
}

# Keeps a server running: starts it again when it was killed, until all servers are stopped.
keep_running() { # NAME START_COMMAND
    local server
    while [ ! -e "$folder/over" ]; do
        "$2"
        server=$!
        printf '%s\n' "$server" >"$folder/$1.process.new"
        mv "$folder/$1.process.new" "$folder/$1.process"
        wait "$server" 2>/dev/null || true
        rm -f "$folder/$1.process"
        # A server that never worked is not started again.
        [ -e "$folder/$1.works" ] || break
        sleep 0.1
    done
}

# Starts a server, and waits until it accepts connections. Another program may take its port first; then another port is
# tried.
start_server() { # NAME START_COMMAND CHECK_COMMAND
    local keeper
    for _ in 1 2 3; do
        port=$(free_port)
        keep_running "$1" "$2" &
        keeper=$!
        keepers+=("$keeper")
        for _ in {1..600}; do
            if "$3"; then
                : >"$folder/$1.works"
                return
            fi
            kill -0 "$keeper" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$(pid_of "$1")" 2>/dev/null || true
        wait "$keeper" 2>/dev/null || true
    done
    tail -n 20 "$folder/$1.log" >&2
    say "$1 does not begin" >&2
    return 1
}

# Certificates for encrypted connections, if they can be made.
postgres_tls=() mariadb_tls=() redis_tls=()
make_certificates() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$folder/authority.key" -out "$folder/authority.pem" \
        -days 2 -subj /CN=authority &&
        openssl req -newkey rsa:2048 -nodes -keyout "$folder/server.key" -out "$folder/server.request" -subj /CN=server &&
        openssl x509 -req -in "$folder/server.request" -out "$folder/server.pem" -days 2 -CAcreateserial \
            -CA "$folder/authority.pem" -CAkey "$folder/authority.key" \
            -extfile <(printf 'subjectAltName=IP:127.0.0.1\n') &&
        chmod 600 "$folder/server.key" && give_to_server "$folder/server.key"
}
if have openssl && make_certificates >"$folder/openssl.log" 2>&1; then
    postgres_tls=(-c ssl=on -c "ssl_cert_file=$folder/server.pem" -c "ssl_key_file=$folder/server.key")
    mariadb_tls=(--ssl-cert="$folder/server.pem" --ssl-key="$folder/server.key")
    redis_tls=(--tls-cert-file "$folder/server.pem" --tls-key-file "$folder/server.key"
        --tls-ca-cert-file "$folder/authority.pem" --tls-auth-clients no)
    export ICECORE_TEST_AUTHORITY="$folder/authority.pem"
fi

secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

(umask 077 && printf '%s\n' "$secret" >"$folder/secret")
give_to_server "$folder/secret"
"${as_server[@]:1}" initdb --pgdata="$folder/postgres" --username=icecore --pwfile="$folder/secret" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C >"$folder/postgres.log" 2>&1 ||
    { tail -n 20 "$folder/postgres.log" >&2 && fail 'initdb failed'; }
start_postgres() {
    # After a kill the server syncs all its files. This makes it use one call instead of one for each file of each test's
    # database.
    "${as_server[@]}" postgres -D "$folder/postgres" -h 127.0.0.1 -p "$port" -k '' -c recovery_init_sync_method=syncfs "${postgres_tls[@]}" \
        </dev/null >>"$folder/postgres.log" 2>&1 &
}
is_postgres_ready() {
    [ "$(sed -n 8p "$folder/postgres/postmaster.pid" 2>/dev/null | tr -d ' ')" = ready ]
}
start_server postgres start_postgres is_postgres_ready || exit 1
export ICECORE_TEST_POSTGRES="postgres://icecore:$secret@127.0.0.1:$port/postgres"
export ICECORE_TEST_POSTGRES_PID="$folder/postgres.process"

"${as_server[@]:1}" mariadb-install-db --no-defaults --datadir="$folder/mariadb" --auth-root-authentication-method=normal \
    --skip-test-db >"$folder/mariadb.log" 2>&1 ||
    { tail -n 20 "$folder/mariadb.log" >&2 && fail 'mariadb-install-db failed'; }
(umask 077 && cat >"$folder/users.sql" <<SQL
CREATE DATABASE IF NOT EXISTS icecore;
CREATE USER IF NOT EXISTS 'icecore'@'%' IDENTIFIED BY '$secret';
GRANT ALL PRIVILEGES ON *.* TO 'icecore'@'%' WITH GRANT OPTION;
ALTER USER 'root'@'localhost' ACCOUNT LOCK;
SQL
)
give_to_server "$folder/users.sql"
start_mariadb() {
    "${as_server[@]}" mariadbd --no-defaults --datadir="$folder/mariadb" --socket="$folder/mariadb.socket" \
        --pid-file="$folder/mariadb.pid" --bind-address=127.0.0.1 --port="$port" --skip-name-resolve \
        --max-allowed-packet=64M "${mariadb_tls[@]}" --init-file="$folder/users.sql" </dev/null >>"$folder/mariadb.log" 2>&1 &
}
is_mariadb_ready() {
    [ -e "$folder/mariadb.pid" ] && is_open "$port"
}
start_server mariadb start_mariadb is_mariadb_ready || exit 1
export ICECORE_TEST_MYSQL="mysql://icecore:$secret@127.0.0.1:$port/icecore"
export ICECORE_TEST_MYSQL_PID="$folder/mariadb.process"

start_redis() {
    local encrypted=()
    [ ${#redis_tls[@]} -eq 0 ] || encrypted=(--tls-port "$(free_port)" "${redis_tls[@]}")
    "${as_server[@]}" redis-server --bind 127.0.0.1 --port "$port" --unixsocket "$folder/redis.socket" --dir "$folder" \
        --save '' --appendonly no --databases 16 "${encrypted[@]}" </dev/null >>"$folder/redis.log" 2>&1 &
}
is_port_open() {
    is_open "$port"
}
unset ICECORE_TEST_REDIS
if have redis-server && start_server redis start_redis is_port_open; then
    export ICECORE_TEST_REDIS="redis://127.0.0.1:$port"
else
    say 'There is no Redis: what needs it is left out.'
fi

start_memcached() {
    "${as_server[@]}" memcached -l 127.0.0.1 -p "$port" -m 256 -o no_lru_maintainer </dev/null >>"$folder/memcached.log" 2>&1 &
}
unset ICECORE_TEST_MEMCACHED
if have memcached && start_server memcached start_memcached is_port_open; then
    export ICECORE_TEST_MEMCACHED="memcached://127.0.0.1:$port"
else
    say 'There is no memcached: what needs it is left out.'
fi

# No package has MongoDB itself. This server keeps everything in memory.
mkdir -p "$target/mongo"
mongo_folder=$(cd "$target/mongo" && pwd)
# Succeeds if the server was built from the current sources.
is_mongodb_built() {
    local source
    for source in scripts/mongo/pom.xml scripts/mongo/src/main/java/Server.java; do
        [ "$mongo_folder/server.jar" -nt "$source" ] || return 1
    done
}
build_mongodb() {
    local packages=()
    # A failed build is not tried again each time.
    [ ! "$mongo_folder/failed" -nt scripts/mongo/pom.xml ] || return 1
    have javac || packages+=(default-jdk-headless)
    have mvn || packages+=(maven)
    [ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}" || return 1
    say 'Building a server that speaks the protocol of MongoDB, once …'
    # The lock lets only one of several processes build.
    (
        flock 9
        is_mongodb_built ||
            timeout 300 mvn -q -B -f scripts/mongo/pom.xml -Dbuild.folder="$mongo_folder" package >"$folder/maven.log" 2>&1 ||
            { : >"$mongo_folder/failed" && false; }
    ) 9>"$mongo_folder/lock"
}
start_mongodb() {
    setsid java -Xmx2g -Dorg.slf4j.simpleLogger.defaultLogLevel=off -cp "$mongo_folder/server.jar:$mongo_folder/lib/*" Server "$port" \
        </dev/null >>"$folder/mongodb.log" 2>&1 &
}
is_mongodb_ready() {
    grep -q '^ready$' "$folder/mongodb.log" 2>/dev/null && is_open "$port"
}
unset ICECORE_TEST_MONGODB
if { is_mongodb_built && have java; } || build_mongodb; then
    if start_server mongodb start_mongodb is_mongodb_ready; then
        export ICECORE_TEST_MONGODB="mongodb://127.0.0.1:$port/icecore"
    fi
elif [ -e "$folder/maven.log" ]; then
    tail -n 20 "$folder/maven.log"
fi
[ -n "${ICECORE_TEST_MONGODB:-}" ] || say 'There is no server that speaks the protocol of MongoDB: what needs it is left out.'

if [ -t 0 ]; then
    "$@"
    exit
fi
# The command gets a process group of its own, which is stopped as a whole when a signal arrives.
set -m
"$@" <&0 &
command=$!
set +m
status=0
wait "$command" || status=$?
command=
exit "$status"
