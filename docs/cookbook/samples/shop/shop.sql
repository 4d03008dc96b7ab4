-- What `shop.db` is: sqlite3 shop.db < shop.sql
CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, payload BLOB);
INSERT INTO jobs VALUES (1, 'mail', x'04087b073a07746f492214616e6e406578616d706c652e6f7267063a0645543a066e6907');
INSERT INTO jobs VALUES (2, 'mail', x'04087b073a07746f492214626f62406578616d706c652e6f7267063a0645543a066e690a');
CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT);
INSERT INTO options VALUES ('site', 'a:2:{s:4:"home";s:20:"http://shop.example/";s:4:"rate";d:0.19;}');
INSERT INTO options VALUES ('pages', 'a:2:{s:8:"currency";s:3:"EUR";s:5:"pages";a:2:{i:0;s:21:"http://shop.example/a";i:1;s:21:"http://shop.example/b";}}');
