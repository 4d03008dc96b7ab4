//! Configuration of php-fpm and nginx. All their files stay in one folder.

use super::pages::Pool;
use std::fmt::Write;
use std::path::Path;

/// Returns the configuration of a pool.
pub(super) fn render_fpm_config(folder: &Path, pool: Pool, workers: u32, is_root: bool) -> String {
    let name = pool.name();
    let user = if is_root { "user = root\ngroup = root\n" } else { "" };
    format!(
        "[global]\n\
         daemonize = no\n\
         error_log = \"{folder}/{name}.log\"\n\
         [{name}]\n\
         {user}\
         listen = \"{socket}\"\n\
         pm = static\n\
         pm.max_children = {workers}\n\
         catch_workers_output = yes\n",
        folder = folder.display(),
        socket = socket_path(folder, pool),
    )
}

/// Returns the PHP settings of a pool as `name=value`.
pub(super) fn list_php_settings(folder: &Path, pool: Pool, modules_folder: Option<&Path>) -> Vec<String> {
    // Every pool loads the extension, so pages with and without it share worker processes. If the value has only few
    // objects, the times of other processes would differ by how recently these were used.
    let module_path =
        modules_folder.and_then(|folder| folder.join("php").join("modules").join("icecore.so").canonicalize().ok());
    let extension = module_path.map(|module_path| format!("extension={}", module_path.display()));
    let log = format!("error_log={}/php.log", folder.display());
    let settings = ["memory_limit=-1", "unserialize_max_depth=0", "display_errors=0", "log_errors=1", &log];
    settings.iter().chain(pool.settings()).map(|setting| (*setting).to_owned()).chain(extension).collect()
}

fn socket_path(folder: &Path, pool: Pool) -> String {
    format!("{}/{}.sock", folder.display(), pool.name())
}

/// Returns the configuration of one server for all pools, on this local port.
pub(super) fn render_nginx_config(folder: &Path, pages: &Path, port: u16, is_root: bool) -> String {
    let root = folder.display();
    let mut text = String::new();
    if is_root {
        text.push_str("user root;\n");
    }
    let _ = write!(
        text,
        "daemon off;\n\
         worker_processes 1;\n\
         pid \"{root}/nginx.pid\";\n\
         events {{ worker_connections 512; }}\n\
         http {{\n\
         access_log off;\n\
         keepalive_requests 1000000000;\n\
         keepalive_timeout 600s;\n\
         fastcgi_read_timeout 600s;\n"
    );
    for temporary in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(text, "{temporary}_temp_path \"{root}/nginx-{temporary}\";");
    }
    let _ = writeln!(text, "server {{\nlisten 127.0.0.1:{port};");
    for pool in Pool::ALL {
        let _ = write!(
            text,
            "location ~ ^/{name}/([a-z-]+\\.php)$ {{\n\
             fastcgi_param SCRIPT_FILENAME \"{pages}/$1\";\n\
             fastcgi_param REQUEST_METHOD $request_method;\n\
             fastcgi_param QUERY_STRING $query_string;\n\
             fastcgi_pass \"unix:{socket}\";\n\
             }}\n",
            name = pool.name(),
            pages = pages.display(),
            socket = socket_path(folder, pool),
        );
    }
    text.push_str("}\n}\n");
    text
}
